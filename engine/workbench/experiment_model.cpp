// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/experiment_model.h"

#include "engine/base/error.h"
#include "engine/workbench/run_options.h"

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

namespace spanscope::workbench {
namespace {

/// Returns a folder on the disk of the span store, so that the measurement uses this disk.
std::filesystem::path scratchFolder() {
  try {
    return standardStoreFolder().parent_path();
  } catch (const Failure&) {
    return {};  // only some experiments need the folder
  }
}

std::vector<std::filesystem::path> publishedFolders() {
  std::vector<std::filesystem::path> folders;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables of the environment.
  const char* const named = std::getenv("SPANSCOPE_GOLDEN_DIR");
  if (named != nullptr && *named != '\0') folders.emplace_back(named);
  // Beside a checkout from which the program was started.
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  if (!error) folders.push_back((here / ".." / "shared" / "golden").lexically_normal());
  return folders;
}

}  // namespace

experiment::ExperimentModel experimentModelOf(ModelBundle& bundle, const run::SessionConfig& config) {
  // Without tiers, the cache of an experiment is really empty, and the user's stored blocks do not change.
  run::SessionConfig own = config;
  own.store = {};
  return {.name = bundle.name,
          .machine = bundle.backend->info().name,
          .decoder = *bundle.decoder,
          .backend = *bundle.backend,
          .tokenizer = bundle.tokenizer.get(),
          .chat = bundle.chat,
          .session = std::move(own),
          .scratch = scratchFolder(),
          .published = publishedFolders(),
          .open = [&bundle](const run::SessionConfig& wanted, trace::Sink& sink) {
            return makeSession(bundle, wanted, sink);
          }};
}

}  // namespace spanscope::workbench
