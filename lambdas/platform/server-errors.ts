import type { Metrics } from '@aws-lambda-powertools/metrics';
import type { MiddlewareObj } from '@middy/core';
import type { HttpRequest, HttpResponse } from './http.ts';

/**
 * Counts the answers with status 500 by the function's version, so that a release can be told from the one before it while both
 * answer requests. An exception that the function answers itself is no error to Lambda.
 */
export function countServerErrors(metrics: Metrics): MiddlewareObj<HttpRequest, HttpResponse> {
  return {
    after: ({ response, context }) => {
      if (response?.statusCode !== 500) return;
      const single = metrics.singleMetric();
      single.addDimension('version', context.functionVersion);
      single.addMetric('ServerError', 'Count', 1);
    },
  };
}
