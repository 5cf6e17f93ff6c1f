import type { LateCause } from '../../status/late-deliveries.ts';
import type { Problem } from '../../status/problem.ts';
import { suspensionReason } from '../health.ts';
import { type Html, html } from '../html.ts';
import { type Context, link, pathOf, timeOf } from '../page.ts';
import type { Say } from '../texts.ts';

/** Writes what needs somebody, the worst first and of those the longest: each leads to the page that shows it or mends it. */
export function problemList(context: Context, problems: readonly Problem[]): Html {
  const lines = problems
    .map(problem => lineOf(context, problem))
    .sort(([one, , , since], [other, , , before]) => one - other || (since ?? '~').localeCompare(before ?? '~'));
  return html`<ol class="needs">${lines.map(
    ([rank, path, text, since]) =>
      html`<li>${rankBadge(context, rank)}${link(context, path, text)}${since && timeOf(since, context)}</li>`,
  )}</ol>`;
}

/** A line about a problem. The path, below the folder, is that of the page which shows the problem or mends it. */
type Line = readonly [rank: Rank, path: string, text: string, since?: string | null];

/** 0 is what stops the service, 1 what grows, 2 what concerns a receiver, 3 what has time. */
type Rank = 0 | 1 | 2 | 3;

function rankBadge({ say }: Context, rank: Rank): Html {
  const [tone, word] = (
    [
      ['bad', say('Broken', 'Parado')],
      ['bad', say('Urgent', 'Urgente')],
      ['wait', say('Look into', 'Verificar')],
      ['', say('Has time', 'Pode esperar')],
    ] as const
  )[rank];
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** Says a problem in the page's language. The commands that mend a deployment are the terminal's: the page shows the part. */
function lineOf({ say }: Context, problem: Problem): Line {
  switch (problem.kind) {
    case 'versions in use again': {
      const said = say('Versions that were taken back are in use again', 'Versões retiradas estão de novo em uso');
      return [0, '/#stage', `${said}: ${problem.functions.join(', ')}`];
    }
    case 'not deployed':
      return [0, '/#stage', say('The stage is not deployed', 'O ambiente não está implantado')];
    case 'deployed in part': {
      const said = say('The stage is deployed in part, without', 'O ambiente está implantado em parte, sem');
      return [0, '/#stage', `${said} ${problem.stacks.join(', ')}`];
    }
    case 'KMS key': {
      const said = say('no token is issued and no secret read', 'nenhum token é emitido e nenhum segredo é lido');
      return [
        0,
        '/#stage',
        `${say('The KMS key is', 'A chave do KMS está')} ${problem.state}: ${say('without it', 'sem ela')} ${said}`,
      ];
    }
    case 'no key': {
      const said = say('nothing works without a key of the kind', 'nada funciona sem uma chave do tipo');
      return [0, '/#keys', `${say('A key is missing', 'Falta uma chave')}: ${said} ${problem.key}`];
    }
    case 'stack': {
      const state = say('is in the state', 'está no estado');
      const said = problem.isUnwanted ? say('is left over', 'sobrou') : `${state} ${problem.state}`;
      return [problem.isUnwanted ? 3 : 1, '/#stage', `${say('The stack', 'O stack')} ${problem.name} ${said}`];
    }
    case 'different versions': {
      const said = say('The stacks are of different versions', 'Os stacks são de versões diferentes');
      return [
        1,
        '/#stage',
        `${said}: ${problem.found.map(({ value, stacks }) => `${value} (${stacks.join(', ')})`).join(', ')}`,
      ];
    }
    case 'shifting': {
      const said = say('Requests still go to the newer version too', 'Requisições ainda vão também à versão mais nova');
      return [1, '/#stage', `${said}: ${problem.functions.join(', ')}`];
    }
    case 'rolled back':
      return [3, '/#stage', `${say('Rolled back', 'Revertidas')}: ${problem.functions.join(', ')}`];
    case 'unprotected': {
      const said = say('Nothing protects from deletion', 'Nada protege de exclusão');
      const what = say(
        `${problem.stacks} stacks, ${problem.tables} tables`,
        `${problem.stacks} stacks, ${problem.tables} tabelas`,
      );
      return [3, '/#stage', `${said}: ${what}`];
    }
    case 'alarms':
      return [
        1,
        '/#alarms',
        numbered(problem, say('alarm rings', 'alarme toca'), say('alarms ring', 'alarmes tocam')),
        problem.since,
      ];
    case 'throttled': {
      const calls = problem.calls === 'reads' ? say('reads', 'leituras') : say('writes', 'escritas');
      return [
        1,
        '/#stage',
        `${say('DynamoDB throttled', 'O DynamoDB limitou')} ${problem.count} ${calls}: ${problem.place}`,
      ];
    }
    case 'certificate': {
      const { host, state, endsAt } = problem;
      const end = endsAt === null ? '' : `, ${say('until', 'até')} ${endsAt.slice(0, 10)}`;
      return [
        state === 'ISSUED' ? 3 : 1,
        '/#stage',
        `${say('Certificate of', 'Certificado de')} ${host}: ${state}${end}`,
      ];
    }
    case 'unreached': {
      const who = problem.addresses.join(', ');
      if (problem.mail === 'page')
        return [1, '/#stage', `${say('No page reaches', 'Nenhum alarme urgente chega a')} ${who}`];
      return [3, '/#stage', `${say('No ticket reaches', 'Nenhum alarme que pode esperar chega a')} ${who}`];
    }
    case 'late': {
      const { account, event, cause, count, isCutOff, since, first } = problem.group;
      const number = count === null ? '' : `${isCutOff ? `${say('at least', 'pelo menos')} ` : ''}${count} `;
      const path = pathOf(cause === 'replay' ? { account, event } : { account, event, id: first });
      const said = `${number}${say('late', 'em atraso')}: ${account} · ${event}, ${lateBecause(say)[cause]}`;
      return [1, path, said, since];
    }
    case 'more late': {
      const said = say(
        'more accounts and events have late deliveries',
        'outras contas e eventos têm entregas em atraso',
      );
      return [1, '/#troubled', `${problem.count} ${said}`];
    }
    case 'backlog': {
      const { queue, waiting, inFlight, oldestSeconds } = problem;
      const wait =
        waiting > 0
          ? say(`${waiting} wait in the queue ${queue}`, `${waiting} esperam na fila ${queue}`)
          : say(`${inFlight} are in flight in the queue ${queue}`, `${inFlight} em trânsito na fila ${queue}`);
      const age = oldestSeconds === null ? '' : `, ${say('the oldest for', 'a mais antiga há')} ${oldestSeconds} s`;
      const unread = inFlight > 0 ? '' : say(', and nobody reads it', ', e ninguém a lê');
      return [1, inFlight > 0 ? '/#troubled' : '/#queues', `${wait}${age}${unread}`];
    }
    case 'failed':
    case 'held': {
      const { kind, count, isCutOff, most } = problem;
      const [state, one, many] =
        kind === 'failed'
          ? (['falhou', say('failed', 'falhou'), say('failed', 'falharam')] as const)
          : (['retida', say('held', 'retida'), say('held', 'retidas')] as const);
      const said = `${isCutOff ? `${say('At least', 'Pelo menos')} ` : ''}${numbered(problem, one, many)}`;
      const owner = `${most.account} · ${most.event}`;
      if (count === most.count && !isCutOff) return [2, `${pathOf(most)}?state=${state}`, `${said}: ${owner}`];
      return [2, '/#undelivered', `${said}, ${most.count} ${say('of them of', 'delas de')} ${owner}`];
    }
    case 'dead letters': {
      const [one, many] = [say('dead letter', 'mensagem rejeitada'), say('dead letters', 'mensagens rejeitadas')];
      return [2, '/dead-letters', numbered(problem, one, many)];
    }
    case 'failing':
    case 'suspended': {
      const { kind, count, first } = problem;
      const failing = say('had nothing but failures for over a day', 'só com falhas há mais de um dia');
      const why = first.reason ? ` (${suspensionReason(say, first.reason)})` : '';
      const what =
        kind === 'failing'
          ? failing
          : `${count === 1 ? say('suspended', 'suspenso') : say('suspended', 'suspensos')}${why}`;
      const others = count === 1 ? '' : say(' and others', ' e outros');
      const said = `${count === 1 ? 'Webhook' : `${count} webhooks`} ${what}: ${first.account} · ${first.event}${others}`;
      return [2, count === 1 ? pathOf(first) : '/#troubled', said, first.since];
    }
    case 'users being deleted': {
      const [one, many] = [
        say('user is being deleted', 'usuário em exclusão'),
        say('users are being deleted', 'usuários em exclusão'),
      ];
      return [3, '/#users', numbered(problem, one, many), problem.since];
    }
    case 'late key': {
      const said = say(
        'The next key is due: does the daily rotation run?',
        'A próxima chave já devia existir: a rotação diária roda?',
      );
      return [3, '/#keys', `${said} (${problem.key})`, problem.since];
    }
  }
}

function numbered({ count }: { readonly count: number }, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function lateBecause(say: Say): Readonly<Record<LateCause, string>> {
  return {
    'own fault': say('stopped by a fault of our own', 'paradas por uma falha nossa'),
    overdue: say('overdue', 'vencidas'),
    'slow queue': say('overdue in the queue of slow receivers', 'vencidas na fila de receptores lentos'),
    'no slot': say('waiting for a turn of their slow webhook', 'esperando a vez do webhook lento'),
    replay: say('in a replay that does not go on', 'num reenvio que não avança'),
  };
}
