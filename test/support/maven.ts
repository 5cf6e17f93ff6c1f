import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Copies Java libraries (`group:artifact:version`), and the libraries that they need, to a folder. Maven writes to standard error.
 *
 * @throws if Maven cannot fetch them.
 */
export function copyLibraries(folder: string, libraries: readonly string[]): void {
  const dependencies = libraries.map(library => {
    const [group, artifact, version] = library.split(':');
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId><artifactId>program</artifactId><version>1</version>
  <dependencies>${dependencies.join('')}</dependencies>
</project>`;
  writeFileSync(path.join(folder, 'pom.xml'), pom);
  const copy = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  const words = ['--batch-mode', '--quiet', copy, '-DincludeScope=runtime', '-DoutputDirectory=.'];
  execFileSync('mvn', words, { cwd: folder, stdio: ['ignore', process.stderr, process.stderr] });
}
