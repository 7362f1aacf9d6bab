/** The parts of AWS's types for HTTP and schedule functions that have to fit. */
interface ProxyEvent {
  version: string;
  routeKey: string;
  rawPath: string;
  rawQueryString: string;
  cookies?: string[];
  headers: Record<string, string | undefined>;
  queryStringParameters?: Record<string, string | undefined>;
  requestContext: {
    accountId: string;
    apiId: string;
    domainName: string;
    http: { method: string; path: string; protocol: string; sourceIp: string; userAgent: string };
  };
  body?: string;
  isBase64Encoded: boolean;
}

interface ProxyResult {
  statusCode?: number | undefined;
  headers?: Record<string, boolean | number | string> | undefined;
  body?: string | undefined;
  isBase64Encoded?: boolean | undefined;
  cookies?: string[] | undefined;
}

interface Context {
  functionName: string;
  awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

type Handler<Event, Result> = (
  event: Event,
  context: Context,
  callback: (error?: Error | string | null, result?: Result) => void,
) => void | Promise<Result>;

export type HttpHandler = Handler<ProxyEvent, ProxyResult | string>;
export type ScheduleHandler = Handler<{ id: string; "detail-type": "Scheduled Event"; detail: object }, void>;

export interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly cookies?: string[];
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
}

const event = (apiId: string, domainName: string, asked: Asked): ProxyEvent => {
  const { method = "GET", path, query = "", headers = {}, cookies, body, isBase64Encoded = false } = asked;
  return {
    version: "2.0",
    routeKey: "$default",
    rawPath: path,
    rawQueryString: query,
    headers,
    ...(cookies && { cookies }),
    ...(body !== undefined && { body }),
    isBase64Encoded,
    requestContext: {
      accountId: "123456789012",
      apiId,
      domainName,
      http: { method, path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "test" },
    },
  };
};

/** As a function URL sends it. */
export const byUrl = (asked: Asked) => {
  const id = "abcdefghijklmnopqrstuvwxyz012345";
  return event(id, `${id}.lambda-url.eu-central-1.on.aws`, asked);
};

/** As API Gateway does, with the path decoded. */
export const byGateway = (asked: Asked) =>
  event("a1b2c3d4e5", "a1b2c3d4e5.execute-api.eu-central-1.amazonaws.com", asked);
