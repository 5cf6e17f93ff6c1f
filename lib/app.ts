import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { contextConfiguration } from './config.ts';
import { releaseLabel } from './release.ts';
import { addStage } from './stage.ts';
import { ConfigurationError } from './stage-files.ts';

/** Creates the CDK app for the stage in the context, with cdk-nag checks. If the stage file is invalid, prints the error and exits. */
export function makeApp(): void {
  const app = new App();
  try {
    const context = app.node.getAllContext();
    const configuration = contextConfiguration(context);
    addStage(app, configuration, releaseLabel(configuration.stage, context.release));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
