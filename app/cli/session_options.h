// SPDX-License-Identifier: GPL-3.0-or-later
// The options that say which model runs and with what cache.
#pragma once

#include "app/cli/cli11_forward.h"
#include "app/cli/setting_options.h"
#include "engine/base/file_identity.h"
#include "engine/run/session_config.h"
#include "engine/workbench/model_bundle.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace spanscope::cli {

struct SessionOptions {
  static constexpr std::uint64_t kUsualDiskBytes = 4ULL << 30;  ///< of a folder that was given without

  workbench::RunSettings settings = commandSettings();
  std::string chatTemplate;  ///< by its name; empty: the model's own
  std::string cacheFolder;   ///< of the span store; empty: the user's own, where it is in use

  /// With the blocks that are usual where none were asked for.
  run::SessionConfig config() const;
  /// Refuses options that do not fit together. Throws as refuseOption().
  void check() const;
};

/// The model that was chosen, or the bundled one. Throws Failure.
std::filesystem::path modelDirectory(const SessionOptions& options);

/// The files in a model's directory that a model is made of.
std::vector<FileIdentity> modelFiles(const std::filesystem::path& directory);

/// That a text is the name of a chat template.
CLI::Validator isTemplateName();
/// --template.
void addTemplateOption(CLI::App& command, std::string& chatTemplate);
/// The chat template of that name, or the directory's own for an empty one. Throws Failure that names the
/// known ones, and how to choose one.
const text::ChatTemplate& chosenTemplate(const std::filesystem::path& directory, const std::string& name);

/// --cache-dir, --cache-disk-mib and --cache-host-mib.
void addStoreOptions(CLI::App& command, SessionOptions& options);
/// --cache-dir alone.
void addStoreFolderOption(CLI::App& command, std::string& folder, const std::string& help);

/// How a model is loaded whose cache is that of the options.
workbench::ModelOptions modelOptions(const SessionOptions& options);

/// The model that was chosen, or the bundled one. Throws Failure.
workbench::ModelBundle loadChosenModel(const SessionOptions& options, const compute::Backends& backends);
/// The same without weights: enough to predict.
workbench::ModelBundle describeChosenModel(const SessionOptions& options);

}  // namespace spanscope::cli
