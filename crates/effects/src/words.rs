//! Commands whose effect does not depend on their arguments.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Effect;

/// Commands by their effect. Those that depend on their arguments are in the modules that parse them.
pub(super) const COMMANDS: &[(Effect, &str)] = &[
    (
        Effect::Read,
        "ls dir ll la cat bat head tail less more most zcat zless zgrep bzcat xzcat grep egrep fgrep rg ag ack findstr \
         select-string fd fdfind locate wc diff cmp comm colordiff delta difft cut tr nl tac rev od hexdump strings \
         md5sum sha1sum sha256sum sha512sum md5 shasum cksum b3sum tree basename dirname realpath readlink seq column \
         paste join fold fmt expand unexpand expr bc dc cal man info apropos whatis help history jobs fg bg wait ulimit \
         umask nproc free uptime vmstat iostat dig nslookup host whois ping ping6 traceroute tracepath netstat ss \
         ifconfig ipconfig id groups users who w last getent locale ldd nm objdump readelf otool size sw_vers lscpu \
         lsblk lsusb lspci dmesg journalctl stat file du df ps top htop pgrep pidof lsof printenv pwd whoami uname arch \
         hostnamectl systeminfo tasklist which where whereis type test [ [[ true false : sleep cd pushd popd dirs \
         export unset local declare typeset readonly shift read mapfile readarray getopts alias unalias exit return \
         break continue echo printf yes jq gron xmllint xq htmlq pup csvlook csvcut csvstat csvgrep xsv qsv miller mlr \
         tokei cloc scc sloccount zipinfo lsar identify ffprobe mediainfo pdfinfo \
         ssh-keyscan base64 base32 uuidgen clear reset tput stty logname tty date hwclock \
         findmnt cscope sourcegraph fc-list pbpaste \
         open_file goto scroll_up scroll_down search_dir search_file find_file set_cursors filemap view_image \
         ver vol assoc chcp tldr cheat glow mdcat lazygit tig gitk gitui apt-cache dpkg-query \
         pkg-config pkgconf hexyl zdump nvidia-smi rocm-smi sensors \
         set shopt trap pg_isready wmic \
         sw_vers system_profiler mdfind mdls get-childitem get-content",
    ),
    (
        Effect::Edit,
        "rm rmdir rd del erase mv move ren rename cp copy xcopy robocopy mkdir md mktemp touch ln mklink link unlink \
         chmod chown chgrp chattr icacls attrib dd truncate shred install split csplit rsync scp sftp unzip unrar 7z \
         gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd zip compress kill pkill killall taskkill xkill reboot shutdown \
         useradd userdel usermod groupadd passwd adduser deluser setx reg regedit mkfs mount umount fdisk swapon swapoff \
         createdb dropdb createuser pg_restore mongorestore virtualenv venv ensurepip rustup-init nvm fnm asdf pyenv \
         rbenv volta corepack sdk direnv ssh-keygen ssh-copy-id ssh-add certbot \
         mkcert crontab at launchctl a2ensite a2enmod update-alternatives ldconfig depmod modprobe insmod rmmod \
         iptables ufw firewall-cmd nft chsh visudo vi vim nvim nano emacs ed ex code subl defaults dconf gsettings \
         dos2unix unix2dos patch create undo_edit append insert convert mogrify magick ffmpeg sox pandoc \
         wkhtmltopdf pdftk qpdf optipng pngquant jpegoptim svgo 2to3 git-filter-repo bfg tee sponge \
         sphinx-quickstart cookiecutter copier degit create-react-app create-next-app yo \
         alembic protoc bindgen cbindgen swag mockgen sqlc stringer openapi-generator autoreconf aclocal \
         automake autoconf autoheader libtoolize stow chezmoi dropbox rclone restic borg str_replace \
         start",
    ),
    (
        Effect::Check,
        "pytest py.test tox nox nose nosetests nose2 trial unittest stestr behave robot mypy pyright basedpyright pytype \
         pylint flake8 pyflakes pycodestyle pydocstyle bandit vulture safety pip-audit coverage doctest jest vitest mocha \
         ava tap karma cypress playwright wdio eslint jshint standard xo tsc vue-tsc tsd stylelint htmlhint markdownlint \
         markdownlint-cli2 commitlint knip depcheck madge size-limit lighthouse rspec minitest rubocop brakeman sorbet \
         steep phpunit pest phpstan psalm phpcs golangci-lint staticcheck revive govulncheck gotestsum ginkgo errcheck \
         gosec rustc rustdoc miri gcc g++ cc c++ clang clang++ cl javac kotlinc scalac swiftc ghc fpc nvcc tcc ponyc zig \
         crystal nim dmd ldc2 ocamlc ocamlopt gfortran nasm as ld ar ctest meson ninja cppcheck clang-tidy valgrind gdb \
         lldb strace ltrace perf hyperfine ab wrk hey k6 locust bats shunit2 shellcheck hadolint yamllint \
         ansible-lint actionlint checkov tfsec tflint trivy grype snyk semgrep codeql sonar-scanner dredd schemathesis \
         spectral buf detekt ktlint checkstyle spotbugs pmd swiftlint credo dialyzer hlint luacheck \
         sphinx-build latexmk pdflatex xelatex lualatex tectonic typst htmlproofer vale \
         codespell typos lychee linkchecker doctor gotest linkinator pa11y axe kubeconform \
         kubeval conftest opa cargo-nextest git-secrets gitleaks detect-secrets trufflehog webpack rollup vite esbuild \
         parcel tsup swc babel turbo nx lerna rush microbundle ncc pkg storybook hugo jekyll eleventy gatsby sass lessc \
         tailwindcss postcss uglifyjs terser uvicorn gunicorn hypercorn flask fastapi streamlit celery rails rackup puma \
         http-server serve live-server nodemon pm2 godot unity arduino-cli platformio esptool java \
         sbcl clisp guile racket erl iex octave matlab gnuplot stata julia ",
    ),
    (
        Effect::Handover,
        "submit exit_forfeit twine surge shipit semantic-release release-it gh-pages goreleaser mail sendmail mutt",
    ),
    (Effect::Plan, "think"),
];

static BY_WORD: LazyLock<HashMap<&str, Effect>> = LazyLock::new(|| by_name(COMMANDS));

/// The names in a table. If a name occurs twice, the first effect wins.
pub(super) fn by_name(table: &[(Effect, &'static str)]) -> HashMap<&'static str, Effect> {
    let mut all = HashMap::new();
    for (effect, name) in
        table.iter().flat_map(|(effect, names)| names.split_ascii_whitespace().map(|name| (*effect, name)))
    {
        all.entry(name).or_insert(effect);
    }
    all
}

/// The effect of a command by its name alone.
pub(super) fn effect(program: &str) -> Option<Effect> {
    BY_WORD.get(program).copied()
}
