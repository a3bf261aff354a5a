// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

#include <string>
#include <vector>

namespace spanscope::cli {

/// Adds `completion bash`, `zsh` and `fish`, which write scripts. The scripts call `spanq __complete WORDS…`.
void addCompletion(CLI::App& app, Context& context);

/// The answer to `spanq __complete`: what the last of `words` may become. `words` does not hold the
/// program's name; the last one is the word before the cursor, maybe empty.
///
/// The first line is "files" or "folders", which the shell completes, or "words". Then each line is a word
/// and, after a tab, its help. The text is empty if there is nothing to offer.
std::string completeWords(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace spanscope::cli
