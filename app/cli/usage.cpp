// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/usage.h"

#include <CLI/CLI.hpp>

namespace spanscope::cli {

void refuseOption(const std::string& option, const std::string& found, const std::string& expected) {
  throw CLI::ValidationError(option, "found " + found + ", expected " + expected);
}

void checkId(const std::string& option, TokenId id, std::int32_t vocabularySize) {
  if (id >= vocabularySize)
    refuseOption(option, std::to_string(id), "an id from 0 to " + std::to_string(vocabularySize - 1));
}

}  // namespace spanscope::cli
