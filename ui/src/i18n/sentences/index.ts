/** What the engine says, in the language of the moment: composed from codes and what they name. */
export * from './findings';
export * from './kinds';
export * from './refusals';
export * from './restores';
export * from './rows';
