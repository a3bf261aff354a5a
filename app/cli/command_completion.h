// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/command.h"

#include <string>
#include <vector>

namespace spanscope::cli {

/// Adds `completion bash`, `zsh` and `fish`, which write scripts. The scripts call `spanq __complete WORDS…`.
void addCompletion(CLI::App& app, Context& context);

/// Returns the answer to `spanq __complete`: the completions of the last word. `words` does not contain the
/// program's name. The last word ends at the cursor and may be empty.
///
/// The first line is "files", "folders" or "words". The shell completes files and folders itself. Then each
/// line is a word and, after a tab, its help. The text is empty if there is no completion.
std::string completeWords(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace spanscope::cli
