/** As much of a JSON schema as the service's document has. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}

/** One operation of the service, as its OpenAPI document describes it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly inPath: readonly Parameter[];
  readonly inQuery: readonly Parameter[];
  readonly body: Schema | undefined;
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Record<
        string,
        {
          operationId: string;
          parameters?: Parameter[];
          requestBody?: { content: Record<string, { schema: Schema }> };
        }
      >
    >
  >;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

export interface Api {
  readonly operations: readonly Operation[];
  /** The schema behind references, and several that hold together as one. */
  resolve(schema: Schema): Schema;
}

export async function readApi(url: string): Promise<Api> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path,
      inPath: parameters.filter((parameter) => parameter.in === 'path'),
      inQuery: parameters.filter((parameter) => parameter.in === 'query'),
      body: requestBody?.content['application/json']?.schema,
    })),
  );
  const resolve = (schema: Schema): Schema => {
    const name = schema.$ref?.split('/').at(-1);
    if (name !== undefined) return resolve(document.components.schemas[name] ?? {});
    const parts = (schema.allOf ?? schema.oneOf?.slice(0, 1))?.map(resolve);
    if (!parts) return schema;
    const whole = parts.reduce<Schema>((sum, part) => ({ ...sum, ...part }), { type: 'object' });
    const properties = parts.reduce<Readonly<Record<string, Schema>>>((sum, part) => ({ ...sum, ...part.properties }), {});
    return { ...whole, properties, required: parts.flatMap(({ required = [] }) => required) };
  };
  return { operations, resolve };
}
