import { existsSync } from "node:fs";
import { inflateSync } from "node:zlib";
import type { getDocumentProxy } from "unpdf";
import { packageFile } from "../../../engine/lib/package-root.js";

type PdfDocument = Awaited<ReturnType<typeof getDocumentProxy>>;

/** A PDF, opened by pdf.js. */
export interface OpenPdf {
  readonly document: PdfDocument;
  /** pdf.js's name of each operation; the index is the operation's number. */
  readonly operatorNames: readonly (string | undefined)[];
  /** The result of `work` on a page. If the document draws too much, it is a sentence for the user that says so. */
  stopAtExcess<Value>(work: Promise<Value>): Promise<Value | string>;
  /** The number of streams so far that were not unpacked because they are too large. Their content is missing. */
  omittedStreams(): number;
}

/**
 * Opens a PDF to read its text and its drawing operations.
 * @throws the error of pdf.js if the file is not a PDF.
 */
export async function openDocument(bytes: Uint8Array): Promise<OpenPdf> {
  const { getDocumentProxy, getResolvedPDFJS } = await import("unpdf");
  const { OPS, PDFWorker } = await getResolvedPDFJS();
  addTransferToFixedLength();
  const { promise: excess, resolve: stop } = withResolver();
  let omittedCount = 0;
  unpackInOneCall(() => {
    omittedCount += 1;
    if (omittedCount >= maxOmitted) stop(`${maxOmitted} streams of the PDF unpack to more than ${unpackedLimit}.`);
  });
  const operations = OPS as unknown as Readonly<Record<string, number>>;
  const port = new SharingPort(operations, stop);
  callForEachList(() => port.drawing.addList());
  const { pdfjsWorker } = globalThis as unknown as {
    readonly pdfjsWorker: { readonly WorkerMessageHandler: { initializeFromPort(port: SharingPort): void } };
  };
  pdfjsWorker.WorkerMessageHandler.initializeFromPort(port);
  // pdf.js gets a copy because it detaches the buffer, and a Uint8Array because it rejects a Buffer. Verbosity 0
  // prevents warnings on stdout, where this process writes its results.
  const document = await getDocumentProxy(Uint8Array.from(bytes), {
    worker: new PDFWorker({ port: port as never, verbosity: 0 }),
    verbosity: 0,
    isEvalSupported: false,
    cMapUrl: cMapFolder(),
    cMapPacked: true,
    // Pictures are not needed for the text, and decoding them would take longer than everything else.
    maxImageSize: 1,
    // With font faces, pdf.js does not compute the outlines of letters, which only drawing needs.
    disableFontFace: false,
  });
  const operatorNames: (string | undefined)[] = [];
  for (const [name, number] of Object.entries(operations)) operatorNames[number] = name;
  return {
    document,
    operatorNames,
    // Promise.race keeps its result in memory until all its promises are settled, and `excess` is pending to the end.
    // So the race has no result: otherwise the operations of all pages would stay in memory.
    stopAtExcess: async (work) => {
      port.drawing.beginPage();
      return (await Promise.race([work.then(() => undefined), excess])) ?? (await work);
    },
    omittedStreams: () => omittedCount,
  };
}

const resolvedPromise = Promise.resolve();

/** A message between the two halves of pdf.js. Only the fields that are used here. */
interface Message {
  readonly action?: string;
  readonly stream?: number;
  readonly chunk?: { readonly fnArray?: readonly unknown[]; readonly argsArray?: readonly unknown[] };
}

/** pdf.js's number of a message with a part of a result ("chunk"). */
const chunkMessage = 4;
/** Messages with fonts and pictures, which only drawing needs. */
const actionsForDrawing = new Set(["commonobj", "obj"]);

/**
 * The channel between the half of pdf.js that reads the file and the half with the functions that are called here. Both
 * run in this process. pdf.js's own channel copies all messages with fonts and drawings, which takes a fifth of the
 * time. This one does not copy the texts and operations in a chunk; only their arrays are copied, because the first
 * half empties its arrays and uses them again. It drops messages that only drawing needs.
 */
class SharingPort {
  readonly #listeners = new Set<(event: { readonly data: unknown }) => void>();
  readonly drawing: DrawingLimits;

  constructor(operations: Readonly<Record<string, number>>, stop: (reason: string) => void) {
    this.drawing = new DrawingLimits(operations, stop);
  }

  postMessage(message: Message, transfer: readonly ArrayBuffer[] = []): void {
    if (actionsForDrawing.has(message.action ?? "")) return;
    const { chunk } = message;
    if (chunk !== undefined) this.drawing.beginChunk();
    if (chunk?.fnArray !== undefined) this.drawing.addOperations(chunk.fnArray);
    const data =
      message.stream === chunkMessage && chunk !== undefined
        ? {
            ...message,
            chunk: {
              ...chunk,
              ...(chunk.fnArray === undefined ? {} : { fnArray: chunk.fnArray.slice() }),
              ...(chunk.argsArray === undefined ? {} : { argsArray: chunk.argsArray.slice() }),
            },
          }
        : structuredClone(message, { transfer: [...transfer] });
    // queueMicrotask would be several times slower in Node.
    void resolvedPromise.then(() => {
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

/**
 * Forms at this depth are counted separately. Less deep forms are usual in papers: a page may contain a figure, the
 * figure a plot, and the plot its marks.
 */
const deepFormDepth = 5;
/** Maximum number of deep forms that a document draws. */
const maxDeepForms = 20_000;
/** Maximum number of all forms that a document draws. A plot may draw each of its points as a form. */
const maxForms = 1_000_000;

/** Maximum number of texts that a page draws. A page that draws each letter separately has about ten thousand. */
const maxTexts = 200_000;

/**
 * Maximum number of operation lists that pdf.js builds for one chunk. It sends a chunk after a thousand operations, but
 * the operations of a pattern only when the pattern is complete.
 */
const maxListsPerChunk = 20_000;

/**
 * Counts the forms that a document draws, and the texts of a page, and stops at a maximum. Each form may draw other
 * forms several times, so drawing a file of 3 kB may take years. A million texts would use up the memory.
 */
class DrawingLimits {
  readonly #beginForm: number | undefined;
  readonly #endForm: number | undefined;
  readonly #textOperations: ReadonlySet<unknown>;
  readonly #stop: (reason: string) => void;
  #depth = 0;
  #deepForms = 0;
  #forms = 0;
  #texts = 0;
  #lists = 0;

  constructor(operations: Readonly<Record<string, number>>, stop: (reason: string) => void) {
    this.#beginForm = operations["paintFormXObjectBegin"];
    this.#endForm = operations["paintFormXObjectEnd"];
    this.#textOperations = new Set(
      ["showText", "showSpacedText", "nextLineShowText", "nextLineSetSpacingShowText"].map((name) => operations[name]),
    );
    this.#stop = stop;
  }

  beginPage(): void {
    this.#texts = 0;
    this.beginChunk();
  }

  beginChunk(): void {
    this.#lists = 0;
  }

  /** Called for each list that pdf.js builds. If a pattern draws itself, pdf.js builds lists without end. */
  addList(): void {
    this.#lists += 1;
    if (this.#lists > maxListsPerChunk)
      this.#stop("The PDF draws patterns within patterns too often, and reading it might never end.");
  }

  addOperations(operations: readonly unknown[]): void {
    for (const operation of operations) {
      if (operation === this.#endForm) this.#depth = Math.max(0, this.#depth - 1);
      else if (operation === this.#beginForm) {
        this.#depth += 1;
        this.#forms += 1;
        if (this.#depth >= deepFormDepth) this.#deepForms += 1;
      } else if (this.#textOperations.has(operation)) this.#texts += 1;
    }
    if (this.#texts > maxTexts)
      this.#stop("A page of the PDF writes its text in too many pieces, and reading it might never end.");
    if (this.#deepForms > maxDeepForms || this.#forms > maxForms)
      this.#stop("The PDF draws forms within forms too often, and reading it might never end.");
  }
}

/** Like Promise.withResolvers, which Node has from version 22. */
function withResolver(): { readonly promise: Promise<string>; readonly resolve: (reason: string) => void } {
  let resolve: (reason: string) => void = () => undefined;
  const promise = new Promise<string>((settle) => (resolve = settle));
  return { promise, resolve };
}

/**
 * The folder of pdf.js's CMaps, the character codes of Chinese, Japanese and Korean fonts; PDFs only contain their
 * names. The build copies them. The result is a path with a slash at its end: pdf.js would try to fetch a file URL.
 */
const cMapFolder = (): string => {
  const built = packageFile("dist", "cmaps");
  return `${existsSync(built) ? built : packageFile("node_modules", "pdfjs-dist", "cmaps")}/`;
};

/**
 * Adds a method of ArrayBuffer that Node has from version 22. Without it, pdf.js's list of operations would end at the
 * first font.
 */
function addTransferToFixedLength(): void {
  if ("transferToFixedLength" in ArrayBuffer.prototype) return;
  // eslint-disable-next-line no-extend-native -- pdf.js calls it; this process only reads documents.
  Object.defineProperty(ArrayBuffer.prototype, "transferToFixedLength", {
    configurable: true,
    writable: true,
    value: function (this: ArrayBuffer, length = this.byteLength): ArrayBuffer {
      const copy = new ArrayBuffer(length);
      new Uint8Array(copy).set(new Uint8Array(this, 0, Math.min(length, this.byteLength)));
      return copy;
    },
  });
}

const megabyte = 1024 * 1024;
/** Maximum size of an unpacked stream. In a paper, only pictures are larger, and they are not unpacked. */
const maxUnpackedBytes = 64 * megabyte;
/** The maximum size of an unpacked stream, for messages. */
export const unpackedLimit = `${maxUnpackedBytes / megabyte} MB`;
/** After so many streams that are too large, reading ends: unpacking each of them to the maximum takes time. */
const maxOmitted = 10;
/** Called for each stream that is too large. One variable is enough, because one document is read at a time. */
let onTooLarge: () => void = () => undefined;

/**
 * Replaces DecompressionStream by one that unpacks in one call. pdf.js unpacks many small streams with it, and a web
 * stream takes several times as long as unpacking. It is only for pdf.js, which uses the format "deflate", writes once
 * and reads everything. After an error, pdf.js unpacks the stream itself, slowly, as far as possible.
 */
function unpackInOneCall(onStreamTooLarge: () => void): void {
  onTooLarge = onStreamTooLarge;
  const Original = globalThis.DecompressionStream;
  if (Original.name === "OneCallStream") return;
  globalThis.DecompressionStream = class OneCallStream {
    readonly readable: unknown;
    readonly writable: unknown;

    constructor(format: ConstructorParameters<typeof Original>[0]) {
      if (format !== "deflate") return new Original(format) as unknown as OneCallStream;
      let resolvePacked: (bytes: Uint8Array) => void = () => undefined;
      const packed = new Promise<Uint8Array>((resolve) => (resolvePacked = resolve));
      const ready = Promise.resolve();
      const write = (bytes: Uint8Array) => {
        resolvePacked(bytes);
        return ready;
      };
      this.writable = { getWriter: () => ({ ready, write, close: () => ready }) };
      this.readable = (async function* () {
        const bytes = await packed;
        try {
          yield inflateSync(bytes, { maxOutputLength: maxUnpackedBytes });
        } catch (error) {
          if (!isTooLarge(error)) throw error;
          onTooLarge();
          // The content of this stream is missing; the rest of the document can be read.
          yield new Uint8Array();
        }
      })();
    }
  } as unknown as typeof Original;
}

/** Called when pdf.js begins or continues a list of operations. */
let onList: () => void = () => undefined;
let isDateReplaced = false;

/** Replaces Date.now by a function that calls `onNextList`: pdf.js reads the time for each list of operations. */
function callForEachList(onNextList: () => void): void {
  onList = onNextList;
  if (isDateReplaced) return;
  isDateReplaced = true;
  const { now } = Date;
  Date.now = () => {
    onList();
    return now();
  };
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
