// SPDX-License-Identifier: GPL-3.0-or-later
// The options that say which model runs and with what cache.
#pragma once

#include "engine/base/file_identity.h"
#include "engine/run/session.h"
#include "engine/workbench/model_bundle.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spanscope::cli {

struct SessionOptions {
  std::string model;  ///< empty: the bundled one
  int threads = 0;
  std::int32_t blockSize = 16;
  std::int32_t blocks = 0;  ///< 0: what the command takes by default
  std::string kvType = "f32";
  std::string chatTemplate;  ///< by its name; empty: the model's own

  compute::DType kv() const { return kvType == "bf16" ? compute::DType::BF16 : compute::DType::F32; }
  /// With the blocks that are usual where none were asked for.
  run::SessionConfig config() const;
  /// Refuses options that do not fit together. Throws as refuseOption().
  void check() const;
};

/// The model that was chosen, or the bundled one. Throws Failure.
std::filesystem::path modelDirectory(const SessionOptions& options);

/// The files in a model's directory that a model is made of.
std::vector<FileIdentity> modelFiles(const std::filesystem::path& directory);

void addModelOption(CLI::App& command, SessionOptions& options);
/// That a text is the name of a chat template.
CLI::Validator isTemplateName();
/// --template.
void addTemplateOption(CLI::App& command, std::string& chatTemplate);
void addThreadsOption(CLI::App& command, int& threads);
void addKvOption(CLI::App& command, SessionOptions& options);
void addBlockOptions(CLI::App& command, SessionOptions& options);
/// --policy: the name of a policy that there is.
void addPolicyOption(CLI::App& command, std::string& policy);
void addMaxTokensOption(CLI::App& command, std::int32_t& maxTokens);

/// The chat template of that name, or the directory's own for an empty one. Throws Failure that names the
/// known ones, and how to choose one.
const text::ChatTemplate& chosenTemplate(const std::filesystem::path& directory, const std::string& name);

/// The model that was chosen, or the bundled one. Throws Failure.
workbench::ModelBundle loadChosenModel(const SessionOptions& options, const compute::Backends& backends);
/// The same without weights: enough to predict.
workbench::ModelBundle describeChosenModel(const SessionOptions& options);

}  // namespace spanscope::cli
