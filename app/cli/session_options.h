// SPDX-License-Identifier: GPL-3.0-or-later
// The options that choose the model and its cache.
#pragma once

#include "app/cli/command.h"
#include "engine/base/readable_file.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/run/run_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/settings.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace spanscope::cli {

// Settings as options. Names, ranges and help come from the list of settings.

/// The initial settings of commands: those of a new document, but with 0 blocks, which means the default
/// number.
workbench::RunSettings commandSettings();

/// Adds options for the settings with these keys, in this order. The defaults are the current values of
/// `settings`.
std::vector<CLI::Option*> addSettings(CLI::App& command, workbench::RunSettings& settings,
                                      std::initializer_list<std::string_view> keys);

/// Adds options for all settings with these effects, in the order of the list of settings. Settings that the
/// command already has are left out.
std::vector<CLI::Option*> addOtherSettings(CLI::App& command, workbench::RunSettings& settings,
                                           std::initializer_list<workbench::SettingEffect> effects);

struct SessionOptions {
  /// Limit in bytes for a folder that was given without one.
  static constexpr std::uint64_t kUsualDiskBytes = 4ULL << 30;

  workbench::RunSettings settings = commandSettings();
  std::string cacheFolder;  ///< folder of the span store; empty: the user's own, if the store is in use

  /// The configuration, with the default number of blocks if the settings have 0.
  run::SessionConfig config() const;
  /// Refuses options that do not fit together. Throws as refuseOption().
  void check() const;
};

/// The model that was chosen, or the bundled one. Throws Failure.
std::filesystem::path modelDirectory(const SessionOptions& options);

/// The files of a model in its directory.
std::vector<FileIdentity> modelFiles(const checkpoint::Checkpoint& checkpoint);

/// The chat template of the settings: the one that was chosen, or the model's own. Throws a Failure that
/// names the known templates and says how to choose one.
const text::ChatTemplate& chosenTemplate(const SessionOptions& options);

/// Adds --cache-dir, --cache-disk-mib and --cache-host-mib.
void addStoreOptions(CLI::App& command, SessionOptions& options);
/// Adds only --cache-dir.
void addStoreFolderOption(CLI::App& command, std::string& folder, const std::string& help);

/// Options to load a model for the cache of these options.
workbench::ModelOptions modelOptions(const SessionOptions& options);

/// The model that was chosen, or the bundled one. `borrow`: as in workbench::ModelOptions. Throws Failure.
workbench::ModelBundle loadChosenModel(const SessionOptions& options, const compute::Backends& backends,
                                       bool borrow = false);
/// The same without weights, which is enough for a prediction.
workbench::ModelBundle describeChosenModel(const SessionOptions& options);

}  // namespace spanscope::cli
