/** What the API says of questions, answers and standing permissions, as far as the console reads it. Names and meanings are the gateway's. */

export type Scope = "once" | "session" | "task" | "always";

export interface GrantRule {
  readonly tool: string;
  readonly effects: readonly string[];
  readonly argv: readonly { readonly argv: readonly string[]; readonly more: boolean }[] | null;
  readonly cwd: string;
  readonly paths: readonly string[] | null;
  readonly hosts: readonly string[] | null;
  readonly methods: readonly string[] | null;
}

export interface ScopeGrant {
  /** Whether anything would be allowed beyond this call. */
  readonly granted: boolean;
  /** The rule, or why there is none, in one line. */
  readonly text: string;
  readonly rule: GrantRule | null;
}

export type Grants = Readonly<Record<Scope, ScopeGrant>>;

export interface Approval {
  readonly approval_id: string;
  readonly status: "pending" | "approved" | "denied" | "timed_out";
  readonly run_id: string;
  readonly task_id: string;
  readonly session_id: string | null;
  readonly agent: string;
  readonly workspace: string;
  readonly tool_call_id: string;
  readonly tool_call_ids: readonly string[];
  readonly tool_name: string;
  readonly kind: string;
  readonly effects: readonly string[];
  readonly summary: string;
  readonly policy_reason: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly input_redacted: boolean;
  readonly editable: boolean;
  readonly not_editable: string | null;
  /** Whether it asks for an answer, given as `edited_input`, and not for a yes. */
  readonly needs_person: boolean;
  readonly grants: Grants;
  readonly requested_at: string;
  readonly expires_at: string | null;
  readonly resolved_at: string | null;
  readonly decision: "approved" | "denied" | null;
  readonly by: string | null;
  readonly comment: string | null;
  readonly scope: Scope | null;
  readonly edited_input: Readonly<Record<string, unknown>> | null;
  readonly stop: boolean | null;
  readonly permission_id: string | null;
}

export interface Answer {
  readonly decision: "approved" | "denied";
  readonly comment?: string;
  readonly scope?: Scope;
  readonly edited_input?: Readonly<Record<string, unknown>>;
  readonly stop?: boolean;
}

export interface Permission {
  readonly permission_id: string;
  readonly agent: string;
  readonly workspace: string;
  readonly scope: "session" | "task" | "always";
  readonly scope_id: string | null;
  readonly rule: GrantRule;
  /** What the rule allows, in one line. */
  readonly text: string;
  readonly made_by: string;
  readonly approval_id: string | null;
  readonly created_at: string;
  readonly used: number;
}
