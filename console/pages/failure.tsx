import { Alert } from '../components.tsx';
import { messageOf, statusOf } from '../failures.ts';
import { type Page, pathOf, type View } from '../view.ts';

export function failurePage(view: View, error: unknown, { event, id }: { event: string; id: string }): Page {
  const { t, folder, path, refreshSeconds } = view;
  const status = statusOf(error);
  const isMissing = status === 404;
  const [to, label] = !isMissing ? [path, t.failures.tryAgain] : id ? [pathOf(event), event] : ['/', t.nav.webhooks];
  const content = (
    <div id="failure" data-live>
      {isMissing ? <p>{messageOf(t, error)}</p> : <Alert>{messageOf(t, error)}</Alert>}
      <a class="button main" href={folder + to}>
        {label}
      </a>
    </div>
  );
  const title = isMissing ? t.failures.notFound : t.failures.title;
  return { title, crumbs: id ? [event] : [], status, content, refreshSeconds: status >= 500 ? refreshSeconds : 0 };
}
