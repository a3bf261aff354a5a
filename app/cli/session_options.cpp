// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/session_options.h"

#include "app/cli/usage.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/cache/kv_cache.h"
#include "engine/model/config.h"
#include "engine/run/run_options.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::cli {
std::filesystem::path modelDirectory(const SessionOptions& options) {
  return workbench::modelDirectoryOf(options.settings);
}

void SessionOptions::check() const {
  const std::int64_t most = cache::kMaxTokenSlots / settings.blockSize;
  if (settings.blockCount <= most) return;
  refuseOption("--blocks", std::to_string(settings.blockCount),
               "at most " + counted(most, "block") + " of " + counted(settings.blockSize, "token"));
}

run::SessionConfig SessionOptions::config() const {
  workbench::RunSettings used = settings;
  // The folder that was given is the one, whether there is a folder for caches or not.
  if (!cacheFolder.empty()) used.cacheDiskMebibytes = 0;
  run::SessionConfig config = workbench::sessionConfigOf(used);
  config.store.diskBytes = static_cast<std::uint64_t>(settings.cacheDiskMebibytes) << 20U;
  if (settings.blockCount == 0) config.blockCount = run::SessionConfig().blockCount;
  if (!cacheFolder.empty()) {
    // A folder is there to be used.
    config.store.folder = cacheFolder;
    if (config.store.diskBytes == 0) config.store.diskBytes = kUsualDiskBytes;
  }
  return config;
}

void addStoreFolderOption(CLI::App& command, std::string& folder, const std::string& help) {
  command.add_option("--cache-dir", folder, help)->type_name("DIR");
}

void addStoreOptions(CLI::App& command, SessionOptions& options) {
  addStoreFolderOption(command, options.cacheFolder,
                       "Store blocks in this folder and find them there in later runs; without "
                       "--cache-disk-mib at most 4096 MiB");
  addSettings(command, options.settings, {"cache_disk_mib", "cache_host_mib"});
}

std::vector<FileIdentity> modelFiles(const checkpoint::Checkpoint& checkpoint) {
  std::vector<FileIdentity> files;
  for (const std::filesystem::path& file : checkpoint.files()) {
    if (const auto identity = identityOf(file)) files.push_back(*identity);
  }
  return files;
}

namespace {

/// Whether choosing a template would help: it is missing or not known, or the file that has it is broken.
bool isAboutTemplate(const Error& error) {
  const std::string file = std::filesystem::path(error.file).filename().string();
  return file == "chat_template.jinja" || file == "tokenizer_config.json" ||
         error.place.find("chat_template") != std::string::npos;
}

}  // namespace

const text::ChatTemplate& chosenTemplate(const SessionOptions& options) {
  const checkpoint::Checkpoint checkpoint = modelDirectory(options);
  checkpoint.requireModel();
  if (const text::ChatTemplate* chat = workbench::templateOf(options.settings.chatTemplate)) return *chat;
  try {
    return text::findChatTemplate(checkpoint);
  } catch (const Failure& failure) {
    if (!isAboutTemplate(failure.error())) throw;
    model::readConfig(checkpoint);  // no template helps a model that is not computed
    Error error = failure.error();
    error.expected += "; --template NAME chooses one";
    throw Failure(std::move(error));
  }
}

workbench::ModelOptions modelOptions(const SessionOptions& options) {
  return {.threads = options.settings.threads,
          .device = options.settings.device,
          .exact = options.settings.exact,
          .arithmetic = workbench::arithmeticOf(options.settings.arithmetic),
          .session = options.config(),
          .adapter = options.settings.adapter,
          .context = options.settings.context};
}

workbench::ModelBundle loadChosenModel(const SessionOptions& options, const compute::Backends& backends,
                                       bool borrow) {
  const std::filesystem::path directory = modelDirectory(options);
  workbench::ModelOptions model = modelOptions(options);
  model.borrow = borrow;
  model.chat = &chosenTemplate(options);
  return workbench::loadModelBundle(directory, backends, model);
}

workbench::ModelBundle describeChosenModel(const SessionOptions& options) {
  return workbench::describeModel(modelDirectory(options), &chosenTemplate(options),
                                  options.settings.context);
}

}  // namespace spanscope::cli
