// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/session_options.h"

#include "app/cli/option_values.h"
#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/cache/kv_cache.h"
#include "engine/model/config.h"
#include "engine/text/chat_template.h"
#include "engine/workbench/run_options.h"
#include "engine/workbench/setting_choices.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <system_error>
#include <utility>
#include <variant>

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
  // A given folder is used even if there is no default folder for caches.
  if (!cacheFolder.empty()) used.cacheDiskMebibytes = 0;
  run::SessionConfig config = workbench::sessionConfigOf(used);
  config.store.diskBytes = static_cast<std::uint64_t>(settings.cacheDiskMebibytes) << 20U;
  if (settings.blockCount == 0) config.blockCount = run::SessionConfig().blockCount;
  if (!cacheFolder.empty()) {
    // A given folder turns the disk cache on.
    config.store.folder = cacheFolder;
    if (config.store.diskBytes == 0) config.store.diskBytes = kUsualDiskBytes;
  }
  return config;
}

void addStoreFolderOption(CLI::App& command, std::string& folder, const std::string& help) {
  command.add_option("--cache-dir", folder, help)->type_name("DIR");
}

void addStoreOptions(CLI::App& command, SessionOptions& options) {
  addStoreFolderOption(
      command, options.cacheFolder,
      "Keep blocks in this folder for later runs; at most 4096 MiB without --cache-disk-mib");
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

/// Whether another template would fix the error: the template is missing or unknown, or the template file is
/// damaged.
bool isAboutTemplate(const Error& error) {
  const std::string file = std::filesystem::path(error.file).filename().string();
  return file == "chat_template.jinja" || file == "tokenizer_config.json" ||
         error.place.find("chat_template") != std::string::npos;
}

}  // namespace

const text::ChatTemplate& chosenTemplate(const SessionOptions& options) {
  const checkpoint::Checkpoint checkpoint = modelDirectory(options);
  checkpoint.requireModel();
  try {
    return workbench::chatTemplateOf(options.settings);
  } catch (const Failure& failure) {
    if (!isAboutTemplate(failure.error())) throw;
    // These two throw if the model cannot run with any template.
    model::readConfig(checkpoint);
    text::loadTokenizer(checkpoint);
    Error error = failure.error();
    error.expected += ". Choose a template: --template NAME";
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

namespace {

using workbench::RunSettings;
using workbench::Setting;

template <class T>
Range<T> rangeOf(const Setting& setting) {
  const workbench::WholeRange range = setting.option.range.value_or(setting.range);
  return {.least = static_cast<T>(range.least), .most = static_cast<T>(range.most), .orZero = range.orZero};
}

std::vector<std::string> namesOf(const Setting& setting) {
  std::vector<std::string> names;
  for (const workbench::Choice& choice : setting.choices()) names.push_back(choice.name);
  return names;
}

CLI::Validator isChoice(const Setting& setting) {
  return CLI::Validator(
      [&setting](const std::string& given) {
        if (workbench::mayBe(setting, given)) return std::string();
        const std::string expected = workbench::expectedBeside(setting, given);
        return expected.empty() ? "There is no " + std::string(setting.key) + " \"" + given + "\""
                                : "Spanscope found \"" + given + "\", but needs " + expected;
      },
      "");
}

/// Adds the option, with the names in the help.
CLI::Validator isMember(const Setting& setting) {
  const CLI::Validator members = oneOf(namesOf(setting));
  return CLI::Validator(
      [&setting, members](std::string& given) {
        if (!workbench::mayBe(setting, given)) return members(given);
        given = workbench::currentName(setting, given);
        return std::string();
      },
      members.get_description());
}

/// Returns the help with the choices and their descriptions, sorted by name: ": prefix (one segment) or spans
/// (block attention)".
std::string helpOf(const Setting& setting) {
  std::vector<std::string> entries;
  if (setting.choices != nullptr) {
    for (const workbench::Choice& choice : setting.choices()) {
      if (*choice.brief != '\0') entries.push_back(choice.name + " (" + choice.brief + ")");
    }
  }
  std::ranges::sort(entries);
  std::string help = setting.option.help;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    help += i == 0 ? ": " : (i + 1 == entries.size() ? " or " : ", ");
    help += entries[i];
  }
  return help;
}

/// Makes the option of a setting, for each type of its member.
class OptionMaker {
 public:
  OptionMaker(CLI::App& command, const Setting& setting) : m_command(command), m_setting(setting) {}

  CLI::Option* make(RunSettings& settings) {
    CLI::Option* const option =
        std::visit([&](auto member) { return add(settings.*member); }, m_setting.member);
    if (*m_setting.option.value != '\0') option->type_name(m_setting.option.value);
    return option;
  }

 private:
  CLI::Option* add(std::string& value) {
    CLI::Option* const option = m_command.add_option(m_setting.option.name, value, helpOf(m_setting));
    // If the option has a placeholder for a value, the help of the option lists the choices.
    if (m_setting.choices != nullptr)
      option->check(*m_setting.option.value == '\0' ? isMember(m_setting) : isChoice(m_setting));
    return m_setting.option.showsDefault ? option->capture_default_str() : option;
  }

  CLI::Option* add(bool& value) {
    if (!m_setting.option.isNegated)
      return m_command.add_flag(m_setting.option.name, value, m_setting.option.help);
    return m_command.add_flag_callback(
        m_setting.option.name, [&value] { value = false; }, m_setting.option.help);
  }

  CLI::Option* add(std::uint64_t& value) { return addSeedOption(m_command, value, m_setting.option.help); }

  template <class Whole>
  CLI::Option* add(Whole& value) {
    CLI::Option* const option =
        addNumber(m_command, m_setting.option.name, value, m_setting.option.help, rangeOf<Whole>(m_setting));
    if (!m_setting.option.showsDefault) option->default_str("");
    return option;
  }

  CLI::Option* add(std::vector<std::int32_t>& values) {
    return addNumbers(m_command, m_setting.option.name, values, m_setting.option.help,
                      rangeOf<std::int32_t>(m_setting), std::optional(kAllLayers));
  }

  CLI::App& m_command;
  const Setting& m_setting;
};

std::vector<CLI::Option*> addAll(CLI::App& command, RunSettings& settings,
                                 const std::vector<const Setting*>& wanted) {
  std::vector<CLI::Option*> options;
  for (const Setting* setting : wanted) options.push_back(OptionMaker(command, *setting).make(settings));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::string needed = wanted[i]->option.needs;
    if (needed.empty()) continue;
    if (CLI::Option* const other = command.get_option_no_throw(needed)) options[i]->needs(other);
  }
  return options;
}

}  // namespace

RunSettings commandSettings() {
  RunSettings settings;
  settings.blockCount = 0;
  return settings;
}

std::vector<CLI::Option*> addSettings(CLI::App& command, RunSettings& settings,
                                      std::initializer_list<std::string_view> keys) {
  std::vector<const Setting*> wanted;
  for (const std::string_view key : keys) wanted.push_back(workbench::findSetting(key));
  return addAll(command, settings, wanted);
}

std::vector<CLI::Option*> addOtherSettings(CLI::App& command, RunSettings& settings,
                                           std::initializer_list<workbench::SettingEffect> effects) {
  std::vector<const Setting*> wanted;
  for (const Setting& setting : workbench::runSettings()) {
    const std::string name = setting.option.name;
    const bool isOfThese = std::ranges::find(effects, setting.effect) != effects.end();
    if (isOfThese && !name.empty() && command.get_option_no_throw(name) == nullptr)
      wanted.push_back(&setting);
  }
  return addAll(command, settings, wanted);
}

}  // namespace spanscope::cli
