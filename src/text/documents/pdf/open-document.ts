import { existsSync } from "node:fs";
import { inflateSync } from "node:zlib";
import type { getDocumentProxy } from "unpdf";
import { packageFile } from "../../../engine/lib/package-root.js";

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/** A PDF, opened by pdf.js. */
export interface OpenPdf {
  readonly document: PdfDocument;
  /** pdf.js's names of its operations, at their numbers. */
  readonly names: readonly (string | undefined)[];
  /** What a page's work gives; or, where the page draws what no page of a paper does, what that is, in a sentence. */
  unlessExcess<Value>(work: Promise<Value>): Promise<Value | string>;
  /** Streams so far that unpack to more than is read; what stands in them is missing. */
  omitted(): number;
}

/** Opens a PDF for its text and for what lies over it. Throws what pdf.js throws for a file that is not a PDF. */
export async function openDocument(bytes: Uint8Array): Promise<OpenPdf> {
  const { getDocumentProxy, getResolvedPDFJS } = await import("unpdf");
  const { OPS, PDFWorker } = await getResolvedPDFJS();
  giveNodeItsTransfer();
  const { promise: excess, resolve: stop } = withResolver();
  let omitted = 0;
  unpackAtOnce(() => {
    omitted += 1;
    if (omitted >= maxOmitted) stop(`${maxOmitted} streams of the PDF unpack to more than ${unpackedLimit}.`);
  });
  const operations = OPS as unknown as Readonly<Record<string, number>>;
  const port = new SharingPort(operations, stop);
  countLists(() => port.drawn.addList());
  const { pdfjsWorker } = globalThis as unknown as {
    readonly pdfjsWorker: { readonly WorkerMessageHandler: { initializeFromPort(port: SharingPort): void } };
  };
  pdfjsWorker.WorkerMessageHandler.initializeFromPort(port);
  // A copy, since pdf.js takes the buffer away, and no Buffer, which it refuses; silent, since it warns on stdout,
  // which carries our results.
  const document = await getDocumentProxy(Uint8Array.from(bytes), {
    worker: new PDFWorker({ port: port as never, verbosity: 0 }),
    verbosity: 0,
    isEvalSupported: false,
    cMapUrl: cMaps(),
    cMapPacked: true,
    // Pictures say nothing here, and to decode them takes longer than all the rest.
    maxImageSize: 1,
    // The outlines of letters are for those who draw them.
    disableFontFace: false,
  });
  const names: (string | undefined)[] = [];
  for (const [name, number] of Object.entries(operations)) names[number] = name;
  return {
    document,
    names,
    // A race keeps what it gives for as long as one of its promises is pending, as `excess` is until the last page: of
    // each page its whole drawing. So this one gives nothing of it.
    unlessExcess: async (work) => {
      port.drawn.beginPage();
      return (await Promise.race([work.then(() => undefined), excess])) ?? (await work);
    },
    omitted: () => omitted,
  };
}

const delivered = Promise.resolve();

/** What goes between pdf.js's two halves, as far as it is looked at. */
interface Message {
  readonly action?: string;
  readonly stream?: number;
  readonly chunk?: { readonly fnArray?: readonly unknown[]; readonly argsArray?: readonly unknown[] };
}

/** pdf.js's number of a message that brings a piece of what was asked for. */
const piece = 4;
/** Messages that bring fonts and pictures to be drawn. */
const drawn = new Set(["commonobj", "obj"]);

/**
 * The channel between the half of pdf.js that reads the file and the half that is asked; both run in this process.
 * pdf.js's own copies everything that passes through it, fonts and drawings included, which takes a fifth of the time.
 * This one hands pieces of texts and operations over as they are, in lists of their own, since the reading half empties
 * its lists and goes on with them, and leaves out what only a painter needs.
 */
class SharingPort {
  readonly #listeners = new Set<(event: { readonly data: unknown }) => void>();
  readonly drawn: DrawnCount;

  constructor(operations: Readonly<Record<string, number>>, stop: (why: string) => void) {
    this.drawn = new DrawnCount(operations, stop);
  }

  postMessage(message: Message, transfer: readonly ArrayBuffer[] = []): void {
    if (drawn.has(message.action ?? "")) return;
    const { chunk } = message;
    if (chunk !== undefined) this.drawn.endSilence();
    if (chunk?.fnArray !== undefined) this.drawn.add(chunk.fnArray);
    const data =
      message.stream === piece && chunk !== undefined
        ? {
            ...message,
            chunk: {
              ...chunk,
              ...(chunk.fnArray === undefined ? {} : { fnArray: chunk.fnArray.slice() }),
              ...(chunk.argsArray === undefined ? {} : { argsArray: chunk.argsArray.slice() }),
            },
          }
        : structuredClone(message, { transfer: [...transfer] });
    // Not queueMicrotask, which costs Node several times as much.
    void delivered.then(() => {
      for (const listener of this.#listeners) listener({ data });
    });
  }

  addEventListener(
    _: string,
    listener: (event: { readonly data: unknown }) => void,
    options?: { readonly signal?: AbortSignal },
  ) {
    this.#listeners.add(listener);
    options?.signal?.addEventListener("abort", () => this.#listeners.delete(listener));
  }

  removeEventListener(_: string, listener: (event: { readonly data: unknown }) => void): void {
    this.#listeners.delete(listener);
  }

  terminate(): void {
    this.#listeners.clear();
  }
}

/** Forms drawn within so many others: a figure holds a plot, that its marks, and an office program's page all of it. */
const deep = 5;
/** Of those, and of all forms, so many are drawn by one document at most; a plot draws each of its points as a form. */
const [maxDeep, maxForms] = [20_000, 1_000_000];

/** Pieces in which a page writes its text; one that sets each letter by itself has some ten thousand. */
const maxPieces = 200_000;

/**
 * Lists of operations that pdf.js works on before it brings another piece of the page. It brings one after a thousand
 * operations, but nothing of what a pattern draws before that is whole.
 */
const maxSilent = 20_000;

/**
 * Counts the forms that a document draws, and the pieces of text of a page. Each form may draw others several times, so
 * a file of 3 kB can ask for more of them than could be drawn in years; of a million pieces the memory runs out.
 */
class DrawnCount {
  readonly #begin: number | undefined;
  readonly #end: number | undefined;
  readonly #texts: ReadonlySet<unknown>;
  readonly #stop: (why: string) => void;
  #depth = 0;
  #deep = 0;
  #all = 0;
  #pieces = 0;
  #silent = 0;

  constructor(operations: Readonly<Record<string, number>>, stop: (why: string) => void) {
    this.#begin = operations["paintFormXObjectBegin"];
    this.#end = operations["paintFormXObjectEnd"];
    this.#texts = new Set(
      ["showText", "showSpacedText", "nextLineShowText", "nextLineSetSpacingShowText"].map((name) => operations[name]),
    );
    this.#stop = stop;
  }

  beginPage(): void {
    this.#pieces = 0;
    this.endSilence();
  }

  endSilence(): void {
    this.#silent = 0;
  }

  /** A pattern may draw itself: pdf.js then makes one list after the other, and nothing else has its turn. */
  addList(): void {
    this.#silent += 1;
    if (this.#silent > maxSilent)
      this.#stop("The PDF draws patterns within patterns too often, and reading it might never end.");
  }

  add(drawn: readonly unknown[]): void {
    for (const each of drawn) {
      if (each === this.#end) this.#depth = Math.max(0, this.#depth - 1);
      else if (each === this.#begin) {
        this.#depth += 1;
        this.#all += 1;
        if (this.#depth >= deep) this.#deep += 1;
      } else if (this.#texts.has(each)) this.#pieces += 1;
    }
    if (this.#pieces > maxPieces)
      this.#stop("A page of the PDF writes its text in too many pieces, and reading it might never end.");
    if (this.#deep > maxDeep || this.#all > maxForms)
      this.#stop("The PDF draws forms within forms too often, and reading it might never end.");
  }
}

function withResolver(): { readonly promise: Promise<string>; readonly resolve: (why: string) => void } {
  let resolve: (why: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => (resolve = settle));
  return { promise, resolve };
}

/**
 * Tables of the character codes of Chinese, Japanese and Korean fonts, which PDFs name and do not hold. They are
 * pdf.js's own; the build copies them. A plain path with its last slash: pdf.js reads it as a file, an address of a
 * file it would fetch.
 */
const cMaps = (): string => {
  const built = packageFile("dist", "cmaps");
  return `${existsSync(built) ? built : packageFile("node_modules", "pdfjs-dist", "cmaps")}/`;
};

/**
 * pdf.js lists what a page draws by a method of buffers that Node has from version 22 on. Without it the list breaks
 * off at the first font.
 */
function giveNodeItsTransfer(): void {
  if ("transferToFixedLength" in ArrayBuffer.prototype) return;
  // eslint-disable-next-line no-extend-native -- pdf.js calls it there, in the process that reads documents.
  Object.defineProperty(ArrayBuffer.prototype, "transferToFixedLength", {
    configurable: true,
    writable: true,
    value: function (this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
      const moved = new ArrayBuffer(length);
      new Uint8Array(moved).set(new Uint8Array(this, 0, Math.min(length, this.byteLength)));
      return moved;
    },
  });
}

/** Bytes that a stream may unpack to; nothing but a picture is larger in a paper, and pictures are not unpacked. */
const megabyte = 1024 * 1024;
const maxUnpacked = 64 * megabyte;
/** That in words. */
export const unpackedLimit = `${maxUnpacked / megabyte} MB`;
/** So often at most a document is read on without a stream that is too large: each costs the time to unpack so much. */
const maxOmitted = 10;
/** Where it is told that a stream unpacks to more. One document is read at a time. */
let tooLarge: () => void = () => undefined;

/**
 * pdf.js unpacks each of its many small streams through a web stream, which costs several times what unpacking does.
 * This unpacks what is written in one call. It serves pdf.js alone, which asks for "deflate", writes once and reads
 * all; an error makes it unpack the stream itself, slowly, as far as it goes.
 */
function unpackAtOnce(stop: () => void): void {
  tooLarge = stop;
  const Whole = globalThis.DecompressionStream;
  if (Whole.name === "UnpackedAtOnce") return;
  globalThis.DecompressionStream = class UnpackedAtOnce {
    readonly readable: unknown;
    readonly writable: unknown;

    constructor(format: ConstructorParameters<typeof Whole>[0]) {
      if (format !== "deflate") return new Whole(format) as unknown as UnpackedAtOnce;
      let written: (bytes: Uint8Array) => void = () => undefined;
      const packed = new Promise<Uint8Array>((resolve) => (written = resolve));
      const ready = Promise.resolve();
      const write = (bytes: Uint8Array) => {
        written(bytes);
        return ready;
      };
      this.writable = { getWriter: () => ({ ready, write, close: () => ready }) };
      this.readable = (async function* () {
        const bytes = await packed;
        try {
          yield inflateSync(bytes, { maxOutputLength: maxUnpacked });
        } catch (error) {
          if (!isTooLarge(error)) throw error;
          tooLarge();
          // What uses the stream is missing, and the rest is read.
          yield new Uint8Array();
        }
      })();
    }
  } as unknown as typeof Whole;
}

/** Where it is told that pdf.js begins a list of operations, or goes on with it. One document is read at a time. */
let listed: () => void = () => undefined;
let isCounting = false;

/** Has `add` called whenever pdf.js asks for the time, which it does for each list of operations that it works on. */
function countLists(add: () => void): void {
  listed = add;
  if (isCounting) return;
  isCounting = true;
  const { now } = Date;
  Date.now = () => {
    listed();
    return now();
  };
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
