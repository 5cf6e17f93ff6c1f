/** A request to an emulated AWS service, as interceptors see it. */
export interface ServiceRequest {
  readonly service: 'dynamodb' | 'sqs' | 'sns' | 'kms' | 'logs';
  /** `GetItem` */
  readonly operation: string;
  /** The operation's parameters; empty for a body that cannot be parsed. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The access key id that signed the request: a function's name, or `local` for the run itself and `npm run ops`. */
  readonly caller: string;
}

/** An error that a service answers with. Each emulator writes it in the form of its protocol. */
export class ServiceError extends Error {
  readonly code: string;
  readonly status: number;

  /** @param code - as the service names it: `AccessDeniedException` */
  constructor(code: string, message: string, status = 400) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** Sees each request before the service does. An error that it returns is the answer; the service never sees the request. */
export type Interceptor = (request: ServiceRequest) => ServiceError | undefined;

/** The answer of the first interceptor that has one. */
export function intercept(interceptors: readonly Interceptor[], request: ServiceRequest): ServiceError | undefined {
  for (const interceptor of interceptors) {
    const error = interceptor(request);
    if (error) return error;
  }
  return undefined;
}

/** The access key id in an `Authorization` header (AWS Signature Version 4); empty when there is none. */
export function callerOf(authorization: string | undefined): string {
  return /Credential=([^/]+)\//.exec(authorization ?? '')?.[1] ?? '';
}
