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

/// The initial settings of commands: the settings of a new document, but with 0 blocks. 0 blocks means the
/// default number.
workbench::RunSettings commandSettings();

/// Adds options for the settings with these keys, in this order. The defaults are the current values of
/// `settings`.
std::vector<CLI::Option*> addSettings(CLI::App& command, workbench::RunSettings& settings,
                                      std::initializer_list<std::string_view> keys);

/// Adds options for all settings with these effects, in the order of the list of settings. A setting that is
/// already an option of the command is left out.
std::vector<CLI::Option*> addOtherSettings(CLI::App& command, workbench::RunSettings& settings,
                                           std::initializer_list<workbench::SettingEffect> effects);

/// The only value of RunSettings::layers after --observe all.
inline constexpr std::int32_t kAllLayers = -1;

struct SessionOptions {
  /// Limit in bytes for a folder that the user gave without a limit.
  static constexpr std::uint64_t kUsualDiskBytes = 4ULL << 30;

  workbench::RunSettings settings = commandSettings();
  std::string cacheFolder;  ///< folder of the span store; empty: the user's folder if the store is used

  /// The configuration, with the default number of blocks if the settings have 0.
  run::SessionConfig config() const;
  /// Refuses options that contradict each other. Throws the same errors as refuseOption().
  void check() const;
};

/// The directory of the chosen or the bundled model. Throws Failure.
std::filesystem::path modelDirectory(const SessionOptions& options);

/// The files of a model in its directory.
std::vector<FileIdentity> modelFiles(const checkpoint::Checkpoint& checkpoint);

/// The chat template of the settings: the chosen template, or the model's own template. Throws a Failure that
/// lists the known templates and the option for a template.
const text::ChatTemplate& chosenTemplate(const SessionOptions& options);

/// Adds --cache-dir, --cache-disk-mib and --cache-host-mib.
void addStoreOptions(CLI::App& command, SessionOptions& options);
/// Adds only --cache-dir.
void addStoreFolderOption(CLI::App& command, std::string& folder, const std::string& help);

/// Options to load a model for the cache of these options.
workbench::ModelOptions modelOptions(const SessionOptions& options);

/// Loads the chosen or the bundled model. `borrow`: as in workbench::ModelOptions. Throws Failure.
workbench::ModelBundle loadChosenModel(const SessionOptions& options, const compute::Backends& backends,
                                       bool borrow = false);
/// Loads the model without weights, which is enough for a prediction.
workbench::ModelBundle describeChosenModel(const SessionOptions& options);

}  // namespace spanscope::cli
