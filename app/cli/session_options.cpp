// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/session_options.h"

#include "app/workbench/resource_paths.h"

#include <filesystem>

namespace spanscope::cli {

void addModelOption(CLI::App& command, SessionOptions& options) {
  command.add_option("--model", options.model, "Hugging Face model directory; default: the bundled model");
}

void addThreadsOption(CLI::App& command, SessionOptions& options) {
  command.add_option("--threads", options.threads, "Threads; 0: one a core")
      ->check(CLI::Range(0, 1024).description(""))
      ->type_name("N")
      ->capture_default_str();
}

void addKvOption(CLI::App& command, SessionOptions& options) {
  command.add_option("--kv", options.kvType, "Type of cached keys and values: f32 or bf16")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
}

void addBlockOptions(CLI::App& command, SessionOptions& options) {
  command.add_option("--block-size", options.blockSize, "Tokens a block of the cache")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--blocks", options.blocks, "Blocks of the cache; 0: as many as are usual")
      ->check(CLI::Range(0, 100'000'000).description(""))
      ->type_name("N")
      ->capture_default_str();
}

workbench::ModelBundle loadChosenModel(const SessionOptions& options) {
  const std::filesystem::path directory =
      options.model.empty() ? workbench::bundledModelDirectory() : std::filesystem::path(options.model);
  return workbench::loadModelBundle(directory, {.threads = options.threads});
}

}  // namespace spanscope::cli
