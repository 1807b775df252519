"""What a command may not even read: our own data, and the keys that people keep in their homes."""

from pathlib import Path

_AT_HOME = (
    ".ssh .aws .azure .gnupg .kube .docker .oci .terraform.d .password-store .netrc .npmrc .yarnrc.yml .pypirc .pgpass "
    ".my.cnf .vault-token .git-credentials .cargo/credentials .cargo/credentials.toml .gem/credentials "
    ".m2/settings.xml .gradle/gradle.properties .bash_history .zsh_history .python_history .psql_history "
    ".local/share/keyrings .local/share/fish .config/gh .config/glab-cli .config/gcloud .config/git/credentials "
    ".config/op .config/hub .config/rclone .config/doctl .config/heroku .config/containers/auth.json "
    ".config/google-chrome .config/chromium .mozilla .thunderbird .claude .claude.json .codex .gemini .anthropic "
    ".openai Library/Keychains"
).split()

_OF_THE_SYSTEM = (
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/wireguard",
    "/etc/docker/key.json",
    "/etc/kubernetes",
    "/var/lib/docker",
    "/var/lib/kubelet",
    "/var/lib/containerd",
    "/var/run/secrets",
    "/var/run/docker.sock",
)


def hidden_paths(*, data: Path, home: Path) -> tuple[Path, ...]:
    """Everything that is hidden on this machine, whether or not it is there."""
    system = (Path(path) for path in _OF_THE_SYSTEM)
    host_keys = Path("/etc/ssh").glob("ssh_host_*_key")
    return (data, *(home / name for name in _AT_HOME), *system, *host_keys)
