import { type Command, Option } from 'commander';
import { type Role, roles, type User } from '../../lambdas/auth/principals/user.ts';
import type { PageRequest, UserStore } from '../../lambdas/auth/principals/user-store.ts';
import { CliError } from './cli-error.ts';
import { accountId, afterOption, emailAddress, limitOption, notEmpty } from './option-values.ts';
import { choosePassword, type PasswordOptions } from './password.ts';
import type { Report } from './report.ts';
import type { Run } from './run.ts';
import type { Target } from './target.ts';
import type { Streams } from './terminal.ts';
import { confirm, yesOption } from './terminal.ts';
import { reportUser, reportUsers, withGeneratedPassword } from './user-report.ts';

/** The user that an e-mail address or id names. @throws {CliError} */
export async function findUser(
  store: Pick<UserStore, 'findUser' | 'findUserByEmail'>,
  reference: string,
): Promise<User> {
  const user = reference.includes('@') ? await store.findUserByEmail(reference) : await store.findUser(reference);
  if (!user) throw noUser(reference);
  return user;
}

/** Adds `users`. */
export function addUsers(program: Command, run: Run): void {
  const users = program
    .command('users')
    .description(
      'users who log in: create, list, show, enable, disable, delete, unlock, set-role, set-password, set-email',
    )
    .addHelpText('after', examples);

  users
    .command('create')
    .description('create a user; the password is asked for, or read from standard input')
    .requiredOption('--email <address>', 'the user name of the password grant', emailAddress)
    .requiredOption('--account <id>', 'the account the user belongs to', accountId)
    .addOption(new Option('--role <role>', 'admins manage webhooks').choices(roles).makeOptionMandatory())
    .addOption(generateOption())
    .addHelpText('after', examples)
    .action((options: CreateOptions, command: Command) =>
      run(command, (target, _progress, stdin) => create(target, options, stdin)),
    );

  users
    .command('list')
    .description('list all users, or a page of them')
    .addOption(limitOption())
    .addOption(afterOption('user'))
    .action((page: PageRequest, command: Command) => run(command, target => list(target, page)));

  users
    .command('show')
    .description('show a user')
    .argument(...userArgument)
    .action((reference: string, _options: object, command: Command) => run(command, target => show(target, reference)));

  for (const [name, status] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    users
      .command(name)
      .description(
        status === 'enabled' ? 'let a disabled user in again' : 'shut a user out; their sessions are over for good',
      )
      .argument(...userArgument)
      .action((reference: string, _options: object, command: Command) =>
        run(command, target =>
          change(
            target,
            reference,
            (store, user) => store.setUserStatus(user.userId, status),
            user =>
              `User ${user.email} is ${status}.${status === 'disabled' ? ' Their sessions are over; enabling them again brings none back.' : ''}`,
          ),
        ),
      );
  }

  users
    .command('delete')
    .description('delete a user with their address, password and sessions; the address is free then')
    .argument(...userArgument)
    .addOption(yesOption())
    .action((reference: string, options: Confirmed, command: Command) =>
      run(command, target => remove(target, reference, options)),
    );

  users
    .command('unlock')
    .description('forget the failed logins of a user, of all clients')
    .argument(...userArgument)
    .action((reference: string, _options: object, command: Command) =>
      run(command, target =>
        change(
          target,
          reference,
          async (_store, user) => {
            await unlock(target, user.email);
            return user;
          },
          user => `User ${user.email} may log in: failed logins are forgotten.`,
        ),
      ),
    );

  users
    .command('set-role')
    .description('change what a user may do; holds at once, and ends no session')
    .argument(...userArgument)
    .addArgument(program.createArgument('<role>').choices(roles))
    .action((reference: string, role: Role, _options: object, command: Command) =>
      run(command, target =>
        change(
          target,
          reference,
          (store, user) => store.setUserRole(user.userId, role),
          user => `User ${user.email} is ${user.role} of account ${user.accountId}.`,
        ),
      ),
    );

  users
    .command('set-password')
    .description("change a user's password; ends all their sessions and forgets failed logins")
    .argument(...userArgument)
    .addOption(generateOption())
    .action((reference: string, options: PasswordOptions, command: Command) =>
      run(command, (target, _progress, stdin) => setPassword(target, reference, options, stdin)),
    );

  users
    .command('set-email')
    .description('give a user another e-mail address to log in with; ends no session')
    .argument(...userArgument)
    .argument('<address>', 'the new one', emailAddress)
    .action((reference: string, email: string, _options: object, command: Command) =>
      run(command, target => setEmail(target, reference, email)),
    );
}

function noUser(reference: string) {
  return new CliError(`there is no user "${reference}": "users list" shows them.`);
}

const examples = `
A user is named by e-mail address or user id. Passwords are asked for, read from standard input, or generated; never an
argument. They have at least 15 characters, or as many as the stage says (passwordMinimumLength), and are no common ones.

Examples:
  npm run ops -- users create --email ana@acme.com.br --account acme --role admin --generate-password
  pass show acme/ana | npm run --silent ops -- users set-password ana@acme.com.br
  npm run ops -- users unlock ana@acme.com.br
  npm run ops -- users disable ana@acme.com.br`;

function generateOption() {
  return new Option('--generate-password', 'make a password and show it once');
}

interface CreateOptions extends PasswordOptions {
  readonly email: string;
  readonly account: string;
  readonly role: Role;
}

async function create(
  target: Target,
  { email, account, role, ...options }: CreateOptions,
  stdin: Streams['stdin'],
): Promise<Report> {
  const store = await openStore(target);
  if (await store.findUserByEmail(email)) {
    throw new CliError(`a user with the e-mail address ${email} exists already: "users show ${email}" shows them.`);
  }
  const { password, isGenerated } = await choosePassword(options, leastCharacters(target), stdin);
  const user = await takenAs(email, store.createUser({ email, password, accountId: account, role }));
  return isGenerated ? withGeneratedPassword(reportUser(user), password) : reportUser(user);
}

async function list(target: Target, page: PageRequest): Promise<Report> {
  return reportUsers(await (await openStore(target)).listUsers(page));
}

const userArgument = ['<user>', 'e-mail address or user id', notEmpty] as const;

async function show(target: Target, reference: string): Promise<Report> {
  return reportUser(await findUser(await openStore(target), reference));
}

/** Finds a user, changes them, reports; a user deleted in between counts as not found. */
async function change(
  target: Target,
  reference: string,
  apply: (store: UserStore, user: User) => Promise<User | undefined>,
  tell: (user: User) => string,
): Promise<Report> {
  const store = await openStore(target);
  const changed = await apply(store, await findUser(store, reference));
  if (!changed) throw noUser(reference);
  return { json: reportUser(changed).json, text: tell(changed) };
}

interface Confirmed {
  readonly yes?: boolean;
}

/** May be repeated after it died half-way: the user goes first, and the address leads to what is left of them. */
async function remove(target: Target, reference: string, { yes }: Confirmed): Promise<Report> {
  const { openSessions, openUsers } = await import('./stores.ts');
  const [store, sessions] = [openUsers(target), openSessions(target)];
  const userId = await ownerOf(store, reference);
  const user = await store.findUser(userId);
  const isByEmail = reference.includes('@');
  if (user ? isByEmail && !(await store.findUserByEmail(reference)) : !isByEmail) throw noUser(reference);
  const emails = [...new Set([user?.email, user?.formerEmail, ...(isByEmail ? [reference] : [])])].filter(
    email => email !== undefined,
  );
  await confirm(`This deletes user ${emails[0]} of ${target.label}, with their password and sessions.`, yes);
  await store.deleteUser(userId);
  await sessions.deleteSessions(userId);
  for (const email of emails) {
    await store.releaseEmail(userId, email);
    await unlock(target, email);
  }
  return {
    json: { userId, deleted: true },
    text: `User ${emails[0]} is deleted, and their sessions are over. The address is free.`,
  };
}

/** Forgets the failures against an address, of all clients. */
async function unlock(target: Target, email: string): Promise<void> {
  return (await import('./keyring.ts')).openLockout(target).unlock(email);
}

async function setPassword(
  target: Target,
  reference: string,
  options: PasswordOptions,
  stdin: Streams['stdin'],
): Promise<Report> {
  const store = await openStore(target);
  const { userId } = await findUser(store, reference);
  const { password, isGenerated } = await choosePassword(options, leastCharacters(target), stdin);
  const user = await store.setUserPassword(userId, password);
  if (!user) throw noUser(reference);
  await unlock(target, user.email);
  const report = {
    json: reportUser(user).json,
    text: `The password of ${user.email} is changed, and their sessions are over.`,
  };
  return isGenerated ? withGeneratedPassword(report, password) : report;
}

async function setEmail(target: Target, reference: string, email: string): Promise<Report> {
  const store = await openStore(target);
  const userId = await ownerOf(store, reference);
  const known = await store.findUser(userId);
  if (!known || (reference.includes('@') && known.formerEmail === undefined)) await findUser(store, reference);
  const user = await takenAs(email, store.setUserEmail(userId, email));
  if (!user) throw noUser(reference);
  const text = `The user logs in as ${user.email} from now on; their password and sessions stay.`;
  return { json: reportUser(user).json, text };
}

async function openStore(target: Target): Promise<UserStore> {
  return (await import('./stores.ts')).openUsers(target);
}

/** The stage's own minimum; a stage that was deployed before it had one has the default. */
function leastCharacters({ outputs }: Target): number {
  return Number(outputs.PasswordMinimumLength ?? 15);
}

async function takenAs<Answer>(email: string, change: Promise<Answer>): Promise<Answer> {
  try {
    return await change;
  } catch (error) {
    if (error instanceof Error && error.name === 'EmailTakenError') throw emailTaken(email);
    throw error;
  }
}

function emailTaken(email: string) {
  return new CliError(
    `a user with the e-mail address ${email} exists already, or is being made: "users show ${email}" tells, or try again in a minute.`,
  );
}

/** The id that a reference names, also of a user whose change or deletion died half-way. @throws {CliError} */
async function ownerOf(store: UserStore, reference: string): Promise<string> {
  const userId = reference.includes('@') ? await store.findOwner(reference) : reference;
  if (userId === undefined) throw noUser(reference);
  return userId;
}
