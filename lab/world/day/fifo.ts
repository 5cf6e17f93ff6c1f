/** A queue, first in, first out. */
export class Fifo<Item> {
  #items: Item[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  /** @throws {RangeError} when nothing is left. */
  first(): Item {
    if (this.length === 0) throw new RangeError('The queue is empty.');
    return this.#items[this.#first] as Item;
  }

  /** @throws {RangeError} when nothing is left. */
  shift(): Item {
    const item = this.first();
    this.#first += 1;
    if (this.#first > 1_000 && this.#first * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
