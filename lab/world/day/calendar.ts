/** What happens at later moments. What is added to a moment that was taken already never happens. */
export class Calendar<Event> {
  readonly #events = new Map<number, Event[]>();

  add(moment: number, event: Event): void {
    const events = this.#events.get(moment);
    if (events) events.push(event);
    else this.#events.set(moment, [event]);
  }

  /** Takes what happens at a moment, in the order in which it was added. */
  take(moment: number): Event[] {
    const events = this.#events.get(moment) ?? [];
    this.#events.delete(moment);
    return events;
  }
}
