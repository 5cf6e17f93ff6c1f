import { pick, type Random, shuffled } from '../../../../tools/support/random.ts';
import { second } from '../../times.ts';
import type { Actions } from '../actions.ts';
import type { Population, WorldUser } from '../population.ts';

/** Runs operators' commands in random order, while users log in. */
export async function runOperators(actions: Actions, { clients, users }: Population, random: Random) {
  const { operate, pause } = actions;
  const randomUser = () => pick([users.ana, users.bia, users.caio, users.duda], random);
  const tasks = [changePassword, changeLogin, disableUser, disableClient, unlock, endSessions, onlyRefresh, changeRole];
  for (const task of shuffled(tasks, random)) {
    await pause((5 + random() * 30) * second);
    await task();
  }

  async function changePassword(): Promise<void> {
    const user: WorldUser = randomUser();
    const password = `${user.password}, changed`;
    await operate({ name: 'set-password', user: { ...user, password } });
    user.password = password;
  }

  /** Changes one user with two concurrent operator commands, and retries a rejected command. */
  async function changeLogin(): Promise<void> {
    const user: WorldUser = randomUser();
    const [email, password] = [`new.${user.email}`, `${user.password}, replaced`];
    const emailChange = { name: 'set-email', user: { ...user, email } } as const;
    const passwordChange = { name: 'set-password', user: { ...user, password } } as const;
    const pendingPasswordChange = pause(random() * 60).then(() => operate(passwordChange, true));
    if (!(await operate(emailChange, true))) await operate(emailChange);
    if (!(await pendingPasswordChange)) await operate(passwordChange);
    Object.assign(user, { email, password });
  }

  async function disableUser(): Promise<void> {
    const user = randomUser();
    await operate({ name: 'disable-user', user });
    await pause(random() * 10 * second);
    await operate({ name: 'enable-user', user });
  }

  async function disableClient(): Promise<void> {
    await operate({ name: 'disable-client', client: clients.mobile });
    await pause(random() * 5 * second);
    await operate({ name: 'enable-client', client: clients.mobile });
  }

  async function unlock(): Promise<void> {
    await operate({ name: 'unlock', user: users.victim });
  }

  async function endSessions(): Promise<void> {
    await operate({ name: 'end-user-sessions', user: randomUser() });
    await operate({ name: 'end-client-sessions', client: clients.web });
    await operate({ name: 'unbind-client', client: clients.bound });
  }

  async function onlyRefresh(): Promise<void> {
    await operate({ name: 'only-refresh', client: clients.refreshOnly });
  }

  async function changeRole(): Promise<void> {
    await operate({ name: 'make-admin', user: users.bia });
    await pause(random() * 40 * second);
    await operate({ name: 'make-member', user: users.bia });
  }
}
