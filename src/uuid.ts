const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether it is a UUID in lower case, of any version. */
export const isUuid = (value: unknown): value is string => typeof value === 'string' && uuid.test(value);
