/** A queue of small numbers, first in, first out, in two bytes each: millions wait in a day. */
export class RingBuffer {
  #items = new Uint16Array(1_024);
  #first = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: number): void {
    if (this.#length === this.#items.length) {
      const larger = new Uint16Array(this.#items.length * 2);
      larger.set(this.#items.subarray(this.#first));
      larger.set(this.#items.subarray(0, this.#first), this.#items.length - this.#first);
      this.#items = larger;
      this.#first = 0;
    }
    this.#items[(this.#first + this.#length) % this.#items.length] = item;
    this.#length += 1;
  }

  /** @throws {RangeError} when nothing is left. */
  shift(): number {
    if (this.#length === 0) throw new RangeError('The queue is empty.');
    const item = this.#items[this.#first] ?? 0;
    this.#first = (this.#first + 1) % this.#items.length;
    this.#length -= 1;
    return item;
  }
}
