import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** The class path of what `compileJava` leaves in a folder, seen from there. */
export const classPath = '.:lib/*';

/**
 * Compiles the Java files of a folder, with dependencies (`group:artifact:version`) that Maven fetches and keeps.
 *
 * @throws with what Maven or the compiler wrote.
 */
export function compileJava(folder: string, dependencies: readonly string[], files: readonly string[]): void {
  writeFileSync(path.join(folder, 'pom.xml'), pom(dependencies));
  const goals = ['dependency:copy-dependencies', '-DoutputDirectory=lib', '-DincludeScope=runtime'];
  execFileSync('mvn', ['--batch-mode', '--quiet', ...goals], { cwd: folder });
  execFileSync('javac', ['-encoding', 'UTF-8', '-d', '.', '-cp', 'lib/*', ...files], { cwd: folder });
}

function pom(dependencies: readonly string[]): string {
  const elements = dependencies.map(dependency => {
    const [group, artifact, version] = dependency.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>program</artifactId><version>1</version>
  <dependencies>${elements.join('')}</dependencies>
</project>`;
}
