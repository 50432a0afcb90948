/** Something that ends once. An AbortSignal would do, but warns of a leak from the eleventh listener on. */
export class Ending {
  private readonly listeners = new Set<() => void>();
  private over = false;

  get hasEnded(): boolean {
    return this.over;
  }

  /** Calls the listener when it ends, at once if it has. @returns takes the listener off */
  onEnd(listener: () => void): () => void {
    if (this.over) listener();
    else this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  end(): void {
    this.over = true;
    for (const listener of [...this.listeners]) listener();
    this.listeners.clear();
  }
}
