// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/experiment/scratch_folder.h"

#include <unistd.h>

#include <random>
#include <string>
#include <system_error>

namespace spanscope::experiment {

ScratchFolder::ScratchFolder(const std::filesystem::path& parent)
    : m_path(parent /
             ("bench-" + std::to_string(::getpid()) + "-" + std::to_string(std::random_device()()))) {}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  std::filesystem::remove_all(m_path, error);
}

}  // namespace spanscope::experiment
