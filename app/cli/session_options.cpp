// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/session_options.h"

#include "app/cli/number_option.h"
#include "app/cli/usage.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/cache/pool_limits.h"
#include "engine/compute/backends.h"
#include "engine/policy/policies.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/resource_paths.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::cli {
namespace {

/// "prefix (one segment, as stock servers) or spans (block attention)": by name, as a reader looks for it.
std::string policyList() {
  std::vector<std::string> entries;
  for (const policy::Policy* policy : policy::policies())
    entries.push_back(std::string(policy->name) + " (" + policy->brief + ")");
  std::sort(entries.begin(), entries.end());
  std::string list;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i > 0) list += i + 1 == entries.size() ? " or " : ", ";
    list += entries[i];
  }
  return list;
}

}  // namespace

std::filesystem::path modelDirectory(const SessionOptions& options) {
  return options.model.empty() ? workbench::bundledModelDirectory() : std::filesystem::path(options.model);
}

void SessionOptions::check() const {
  const std::int64_t most = cache::kMaxTokenSlots / blockSize;
  if (blocks <= most) return;
  refuseOption("--blocks", std::to_string(blocks),
               "at most " + counted(most, "block") + " of " + counted(blockSize, "token"));
}

run::SessionConfig SessionOptions::config() const {
  run::SessionConfig config;
  config.blockSize = blockSize;
  if (blocks > 0) config.blockCount = blocks;
  config.kvType = kv();
  return config;
}

std::vector<FileIdentity> modelFiles(const std::filesystem::path& directory) {
  constexpr std::array kEndings = {".json", ".safetensors", ".model", ".gguf", ".jinja"};
  std::vector<FileIdentity> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (std::find(kEndings.begin(), kEndings.end(), entry.path().extension()) == kEndings.end()) continue;
    if (const auto identity = identityOf(entry.path())) files.push_back(*identity);
  }
  return files;
}

void addModelOption(CLI::App& command, SessionOptions& options) {
  command.add_option("--model", options.model, "Hugging Face model directory; default: the bundled model")
      ->type_name("DIR");
}

CLI::Validator isTemplateName() {
  return CLI::Validator(
      [](const std::string& name) {
        try {
          text::chatTemplateNamed(name);
        } catch (const Failure& failure) {
          return "found " + failure.error().found + ", expected " + failure.error().expected;
        }
        return std::string();
      },
      "");
}

void addTemplateOption(CLI::App& command, std::string& chatTemplate) {
  command
      .add_option(
          "--template", chatTemplate,
          "Chat template by its name, for a model whose own is not known: " + text::chatTemplateNames())
      ->check(isTemplateName())
      ->type_name("NAME");
}

void addThreadsOption(CLI::App& command, int& threads) {
  addNumber(command, "--threads", threads, "Threads; 0: one a core",
            {.least = 0, .most = compute::kMostThreads});
}

void addKvOption(CLI::App& command, SessionOptions& options) {
  command.add_option("--kv", options.kvType, "Type of cached keys and values: f32 or bf16")
      ->check(CLI::IsMember({"f32", "bf16"}))
      ->capture_default_str();
}

void addBlockOptions(CLI::App& command, SessionOptions& options) {
  addNumber(command, "--block-size", options.blockSize, "Tokens a block of the cache",
            {.least = 1, .most = cache::kMaxBlockSize});
  addNumber(command, "--blocks", options.blocks, "Blocks of the cache; 0: as many as are usual",
            {.least = cache::kMinBlockCount, .most = cache::kMaxBlockCount, .orZero = true});
}

const text::ChatTemplate& chosenTemplate(const std::filesystem::path& directory, const std::string& name) {
  workbench::requireModel(directory);
  if (!name.empty()) return text::chatTemplateNamed(name);
  try {
    return text::findChatTemplate(directory);
  } catch (const Failure& failure) {
    Error error = failure.error();
    error.expected += "; --template NAME chooses one";
    throw Failure(std::move(error));
  }
}

void addPolicyOption(CLI::App& command, std::string& policy) {
  command.add_option("--policy", policy, "Reuse policy: " + policyList())
      ->check(CLI::Validator(
          [](const std::string& name) {
            return policy::findPolicy(name) != nullptr ? std::string()
                                                       : "there is no policy \"" + name + "\"";
          },
          ""))
      ->type_name("NAME")
      ->capture_default_str();
}

void addMaxTokensOption(CLI::App& command, std::int32_t& maxTokens) {
  addNumber(command, "--max-tokens", maxTokens,
            "Most tokens of a step that sets no limit; 0: the model's own",
            {.least = 0, .most = std::numeric_limits<std::int32_t>::max()});
}

workbench::ModelBundle loadChosenModel(const SessionOptions& options, const compute::Backends& backends) {
  const std::filesystem::path directory = modelDirectory(options);
  return workbench::loadModelBundle(
      directory, backends,
      {.threads = options.threads, .chat = &chosenTemplate(directory, options.chatTemplate)});
}

workbench::ModelBundle describeChosenModel(const SessionOptions& options) {
  const std::filesystem::path directory = modelDirectory(options);
  return workbench::describeModel(directory, &chosenTemplate(directory, options.chatTemplate));
}

}  // namespace spanscope::cli
