// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/descriptor.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace spanscope {

void holdStandardDescriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // open() takes the lowest free number, which is this one. It opens for reading only, so that writing is
    // an error.
    if (::open("/dev/null", O_RDONLY) < 0) return;
  }
}

void reportWriteErrors() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace spanscope
