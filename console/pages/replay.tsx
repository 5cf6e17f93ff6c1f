import { ApiError, type Replay } from '../api.ts';
import { Button, Card, Code, Facts, Form, StateBadge, Time } from '../components.tsx';
import { countReplayable, type ReplayCount } from '../count-deliveries.ts';
import { filterOf, iso, queryOf, timesOf } from '../filter.ts';
import type { Texts } from '../texts/en.ts';
import { type Handler, NotFound, type Part, partOf, pathOf, useView, type View } from '../view.ts';

export const replayPage: Handler = async (view, { event }) => {
  const { api, t, query } = view;
  const range = rangeOf(view, query);
  const webhook = await api.findWebhook(event);
  if (!webhook) throw new NotFound(t.failures.noWebhook);
  // A replay skips deliveries from earlier registrations, so the count excludes them.
  if (range.desde < webhook.criado_em) range.desde = webhook.criado_em;
  const isEmpty = range.desde >= range.ate;
  const counted = isEmpty ? { value: { count: 0, isAll: true } } : await partOf(countReplayable(api, event, range));
  const back = `${pathOf(event)}${queryOf(filterOf(query))}`;
  if (isEmptyCount(counted)) return { to: back, notes: [{ kind: 'failed', text: t.replay.nothing }] };
  const { value } = counted;
  const fields = { ...range, back, ...(value && { count: String(value.count), more: value.isAll ? '' : 'yes' }) };
  const submit = t.replay.submit(value && t.replay.count(value.count, value.isAll));
  const content = (
    <Form action={`${pathOf(event)}/replay`} fields={fields} back={back} submit={submit}>
      {webhook.falhando_desde !== null && <p class="bad-text">{t.replay.failing}</p>}
      <p>
        {t.replay.means} {value && value.count > 50 && t.replay.takes(60 + Math.ceil(value.count / 10), value.isAll)}
      </p>
      <Facts
        rows={[
          [t.webhooks.receiver, <Code>{webhook.url}</Code>],
          [t.webhook.state, <StateBadge state={range.estado} />],
          [
            t.webhook.accepted,
            <>
              <Time at={range.desde} form="exact" /> – <Time at={range.ate} form="exact" />
            </>,
          ],
          !value && [t.webhook.deliveries, t.replay.uncounted],
        ]}
      />
    </Form>
  );
  return { title: t.replay.title, crumbs: [event], content, refreshSeconds: 0 };
};

export const startReplay: Handler = async ({ api, t, session }, { event }, form) => {
  const [estado = '', desde = '', ate = ''] = ['estado', 'desde', 'ate'].map(name => form.get(name) ?? '');
  try {
    const { id } = await api.replay(event, { estado, desde, ate });
    return showReplay(id, 'done', t.replay.started);
  } catch (error) {
    if (!(error instanceof ApiError && error.replayId !== undefined)) throw error;
    return showReplay(error.replayId, 'failed', t.replay.running);
  }

  function showReplay(id: string, kind: 'done' | 'failed', text: string) {
    const count = Number.parseInt(form.get('count') ?? '', 10);
    const counted = kind === 'failed' || Number.isNaN(count) ? undefined : { count, isAll: form.get('more') !== 'yes' };
    session.replays = { ...session.replays, [event]: { id, counted } };
    const back = form.get('back') ?? '';
    return { to: back.startsWith(pathOf(event)) ? back : pathOf(event), notes: [{ kind, text }] };
  }
};

export const cancelReplay: Handler = async ({ api, t }, { event }, form) => {
  const id = form.get('id') ?? '';
  // For a replay that has ended, DELETE would delete its record.
  const replay = await api.findReplay(event, id);
  if (replay?.estado === 'em_andamento') await api.cancelReplay(event, id);
  return { to: pathOf(event), notes: [{ kind: 'done', text: t.replay.cancelled }] };
};

export function ReplayCard({ event, replay, counted }: { event: string; replay: Replay; counted?: ReplayCount }) {
  const { t } = useView();
  const { id, estado, enviadas } = replay;
  const of = counted && counted.count >= enviadas ? t.replay.count(counted.count, counted.isAll) : undefined;
  return (
    <Card id="replay" title={t.replay.of} aside={<StateBadge state={estado} />}>
      <div class="inside actions">
        {of !== undefined && <progress max={counted?.count} value={enviadas} aria-label={t.replay.of} />}
        <p>
          {t.replay.sent(enviadas, of)} {estado === 'em_andamento' && t.replay.continues}
        </p>
        {estado === 'em_andamento' && (
          <Button action={`${pathOf(event)}/cancel-replay`} fields={{ id }}>
            {t.replay.cancel}
          </Button>
        )}
      </div>
    </Card>
  );
}

export function isEmptyCount(counted: Part<ReplayCount>): boolean {
  return counted.value?.count === 0 && counted.value.isAll;
}

export function countText({ replay }: Texts, counted: Part<ReplayCount>): string {
  return counted.value ? replay.count(counted.value.count, counted.value.isAll) : replay.uncounted;
}

function rangeOf({ t, now }: View, query: URLSearchParams) {
  const filter = filterOf(query);
  const { state } = filter;
  if (state !== 'falhou' && state !== 'retida') throw new NotFound(t.replay.badState);
  const { desde = iso(0), ate = iso(now) } = timesOf(filter, now);
  return { estado: state, desde, ate };
}
