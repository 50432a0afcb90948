import { BranchFailed, degrade, isBranchFailed } from './degradation.js';
import { balancedProfile, evidenceProfile } from './evidence-profile.js';

const cause = new Error('connection to 10.0.0.1 refused');

describe('a branch that failed', () => {
  it('fails the recall when the profile requires it, and is named without its cause', () => {
    expect(() => degrade(balancedProfile, 'text', cause)).toThrow(new BranchFailed('text', { cause }));
    try {
      degrade(balancedProfile, 'text', cause);
    } catch (error) {
      expect(isBranchFailed(error) && error.branch).toBe('text');
      expect((error as Error).message).not.toContain('10.0.0.1');
    }
  });

  it('is noted when it is optional', () => {
    expect(degrade(balancedProfile, 'vector', cause)).toEqual({ branch: 'vector', cause });
  });

  it('does nothing when the profile does without it', () => {
    expect(degrade(evidenceProfile, 'context', cause)).toBeUndefined();
  });
});
