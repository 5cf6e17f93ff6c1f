import type { LateCause } from '../../status/late-deliveries.ts';
import type { Problem } from '../../status/problem.ts';
import { suspensionReason } from '../health.ts';
import { type Html, html } from '../html.ts';
import { type Context, link, pathOf, timeOf } from '../page.ts';
import type { Say } from '../texts.ts';

/** Writes what needs somebody, the worst first and of those the longest: each leads to the page that shows it or mends it. */
export function problemList(context: Context, problems: readonly Problem[]): Html {
  const lines = problems
    .map(problem => ({ kind: problem.kind, ...lineOf(context, problem) }))
    .sort((one, other) => one.rank - other.rank || (one.since ?? '~').localeCompare(other.since ?? '~'));
  return html`<ol class="needs">${lines.map(
    ({ rank, path, text, since }) =>
      html`<li>${rankBadge(context, rank)}${link(context, path, text)}${since && timeOf(since, context)}</li>`,
  )}</ol>`;
}

/** What a page says of a problem. */
interface Line {
  /** 0 is what stops the service, 1 what grows, 2 what concerns a receiver, 3 what has time. */
  readonly rank: 0 | 1 | 2 | 3;
  /** The page that shows it or mends it, below the folder. */
  readonly path: string;
  readonly text: string;
  readonly since?: string | null;
}

function rankBadge({ say }: Context, rank: Line['rank']): Html {
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
    case 'versions in use again':
      return {
        rank: 0,
        path: '/#stage',
        text: say(
          `Versions that were taken back are in use again: ${problem.functions.join(', ')}`,
          `Versões que tinham sido retiradas estão de novo em uso: ${problem.functions.join(', ')}`,
        ),
      };
    case 'not deployed':
      return { rank: 0, path: '/#stage', text: say('The stage is not deployed', 'O ambiente não está implantado') };
    case 'deployed in part':
      return {
        rank: 0,
        path: '/#stage',
        text: say(
          `The stage is deployed in part, without ${problem.stacks.join(', ')}`,
          `O ambiente está implantado em parte, sem ${problem.stacks.join(', ')}`,
        ),
      };
    case 'KMS key':
      return {
        rank: 0,
        path: '/#stage',
        text: say(
          `The KMS key is ${problem.state}: without it no token is issued and no secret read`,
          `A chave do KMS está ${problem.state}: sem ela nenhum token é emitido e nenhum segredo é lido`,
        ),
      };
    case 'no key':
      return {
        rank: 0,
        path: '/#keys',
        text: say(
          `There is no key of the kind ${problem.key}: nothing works without one`,
          `Não há chave do tipo ${problem.key}: nada funciona sem ela`,
        ),
      };
    case 'stack':
      return {
        rank: problem.isUnwanted ? 3 : 1,
        path: '/#stage',
        text: problem.isUnwanted
          ? say(`The stack ${problem.name} is left over`, `O stack ${problem.name} sobrou`)
          : say(
              `The stack ${problem.name} is in the state ${problem.state}`,
              `O stack ${problem.name} está no estado ${problem.state}`,
            ),
      };
    case 'different versions':
      return {
        rank: 1,
        path: '/#stage',
        text: say(
          'The stacks are of different versions: a deployment did not get to its end',
          'Os stacks são de versões diferentes: uma implantação não chegou ao fim',
        ),
      };
    case 'shifting':
      return {
        rank: 1,
        path: '/#stage',
        text: say(
          `A part of the requests still goes to the newer version of ${problem.functions.join(', ')}, and no deployment is under way`,
          `Uma parte das requisições ainda vai para a versão mais nova de ${problem.functions.join(', ')}, e nenhuma implantação está em curso`,
        ),
      };
    case 'rolled back':
      return {
        rank: 3,
        path: '/#stage',
        text: say(`Rolled back: ${problem.functions.join(', ')}`, `Revertidas: ${problem.functions.join(', ')}`),
      };
    case 'unprotected':
      return {
        rank: 3,
        path: '/#stage',
        text: say(
          `${problem.stacks} of the stacks and ${problem.tables} of the tables can be deleted by mistake`,
          `${problem.stacks} dos stacks e ${problem.tables} das tabelas podem ser excluídos por engano`,
        ),
      };
    case 'alarms':
      return {
        rank: 1,
        path: '/#alarms',
        since: problem.since,
        text: numbered(say, problem.count, ['alarm rings', 'alarms ring'], ['alarme toca', 'alarmes tocam']),
      };
    case 'throttled':
      return {
        rank: 1,
        path: '/#stage',
        text: say(
          `DynamoDB throttled ${problem.count} ${problem.calls} of ${problem.place}`,
          `O DynamoDB limitou ${problem.count} ${problem.calls === 'reads' ? 'leituras' : 'escritas'} de ${problem.place}`,
        ),
      };
    case 'certificate':
      return {
        rank: problem.state === 'ISSUED' ? 3 : 1,
        path: '/#stage',
        text: say(
          `The certificate of ${problem.host} is ${problem.state}${problem.endsAt ? ` and ends on ${problem.endsAt.slice(0, 10)}` : ''}`,
          `O certificado de ${problem.host} está ${problem.state}${problem.endsAt ? ` e termina em ${problem.endsAt.slice(0, 10)}` : ''}`,
        ),
      };
    case 'late': {
      const { account, event, cause, count, isCutOff, since, first } = problem.group;
      const number = count === null ? '' : `${isCutOff ? say('at least ', 'pelo menos ') : ''}${count} `;
      return {
        rank: 1,
        path: cause === 'replay' ? pathOf({ account, event }) : pathOf({ account, event, id: first }),
        since,
        text: say(
          `${number}late: ${account} · ${event}, ${lateBecause(say)[cause]}`,
          `${number}em atraso: ${account} · ${event}, ${lateBecause(say)[cause]}`,
        ),
      };
    }
    case 'more late':
      return {
        rank: 1,
        path: '/#troubled',
        text: say(
          `${problem.count} more accounts and events have late deliveries`,
          `Mais ${problem.count} contas e eventos têm entregas em atraso`,
        ),
      };
    case 'backlog': {
      const { queue, waiting, inFlight, oldestSeconds } = problem;
      const isRead = inFlight > 0;
      const wait = say(
        `${waiting} messages wait in the queue ${queue}`,
        `${waiting} mensagens esperam na fila ${queue}`,
      );
      const age =
        oldestSeconds === null
          ? ''
          : say(`, the oldest for ${oldestSeconds} s`, `, a mais antiga há ${oldestSeconds} s`);
      return {
        rank: 1,
        path: isRead ? '/#troubled' : '/#queues',
        text: `${wait}${age}${isRead ? '' : say(', and nobody reads it', ', e ninguém a lê')}`,
      };
    }
    case 'failed':
    case 'held': {
      const { kind, count, isCutOff, most } = problem;
      const isFailed = kind === 'failed';
      const number = `${isCutOff ? say('At least ', 'Pelo menos ') : ''}${count}`;
      const said = isFailed
        ? say(`${number} failed`, `${number} ${count === 1 ? 'falhou' : 'falharam'}`)
        : say(`${number} held`, `${number} ${count === 1 ? 'retida' : 'retidas'}`);
      const isAll = count === most.count && !isCutOff;
      const owner = `${most.account} · ${most.event}`;
      return {
        rank: 2,
        path: isAll ? `${pathOf(most)}?state=${isFailed ? 'falhou' : 'retida'}` : '/#undelivered',
        text: isAll
          ? `${said}: ${owner}`
          : say(`${said}, ${most.count} of them of ${owner}`, `${said}, ${most.count} delas de ${owner}`),
      };
    }
    case 'dead letters':
      return {
        rank: 2,
        path: '/dead-letters',
        text: numbered(
          say,
          problem.count,
          ['dead letter', 'dead letters'],
          ['mensagem rejeitada', 'mensagens rejeitadas'],
        ),
      };
    case 'failing':
    case 'suspended': {
      const { kind, count, first } = problem;
      const what =
        kind === 'failing'
          ? say('had nothing but failures for over a day', 'só com falhas há mais de um dia')
          : `${say('suspended', 'suspenso')}${first.reason ? ` (${suspensionReason(say, first.reason)})` : ''}`;
      return {
        rank: 2,
        path: count === 1 ? pathOf(first) : '/#troubled',
        since: first.since,
        text: `${count === 1 ? 'Webhook' : `${count} webhooks`} ${what}: ${first.account} · ${first.event}${count === 1 ? '' : say(' and others', ' e outros')}`,
      };
    }
    case 'users being deleted':
      return {
        rank: 3,
        path: '/#users',
        since: problem.since,
        text: numbered(
          say,
          problem.count,
          ['user is being deleted', 'users are being deleted'],
          ['usuário em exclusão', 'usuários em exclusão'],
        ),
      };
    case 'late key':
      return {
        rank: 3,
        path: '/#keys',
        since: problem.since,
        text: say(
          `The next key of the kind ${problem.key} is due: does the daily rotation run?`,
          `A próxima chave do tipo ${problem.key} já devia existir: a rotação diária está rodando?`,
        ),
      };
  }
}

function numbered(
  say: Say,
  count: number,
  english: readonly [one: string, many: string],
  portuguese: readonly [one: string, many: string],
): string {
  const at = count === 1 ? 0 : 1;
  return `${count} ${say(english[at], portuguese[at])}`;
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
