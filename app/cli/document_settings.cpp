// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/document_settings.h"

#include "app/cli/input.h"
#include "engine/base/error.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/document_text.h"
#include "engine/workbench/run_options.h"

#include <CLI/CLI.hpp>

#include <utility>
#include <variant>

namespace spanscope::cli {
namespace {

using workbench::RunSettings;
using workbench::Setting;
using workbench::SettingEffect;

bool isOfSession(const Setting& setting) {
  return setting.effect == SettingEffect::Model || setting.effect == SettingEffect::Session;
}

/// Options write these beside those of the session.
bool isOfQuery(const Setting& setting) {
  return setting.effect == SettingEffect::Plan || setting.effect == SettingEffect::Retrieval ||
         setting.key == "seed";
}

bool isOfServer(const Setting& setting) {
  return setting.key.starts_with("embeddings");
}

void copy(const Setting& setting, const RunSettings& from, RunSettings& to) {
  std::visit([&](auto member) { to.*member = from.*member; }, setting.member);
}

std::string textOf(const std::string& value) {
  return "\"" + value + "\"";
}
std::string textOf(bool value) {
  return value ? "on" : "off";
}
std::string textOf(const std::vector<std::int32_t>& values) {
  return std::to_string(values.size()) + " numbers";
}
template <class Number>
std::string textOf(Number value) {
  return std::to_string(value);
}

std::string valueOf(const Setting& setting, const RunSettings& settings) {
  return std::visit([&](auto member) { return textOf(settings.*member); }, setting.member);
}

bool isSame(const Setting& setting, const RunSettings& a, const RunSettings& b) {
  return std::visit([&](auto member) { return a.*member == b.*member; }, setting.member);
}

}  // namespace

std::vector<InputFile> readInputFiles(const std::vector<std::string>& names, const Streams& streams) {
  std::vector<InputFile> files;
  for (const std::string& name : names) {
    InputFile& file = files.emplace_back();
    file.name = name;
    file.text = readInput(name, streams);
    if (!document::isDocumentText(file.text)) continue;
    if (const auto opened = document::readDocument(file.text); opened.document)
      file.settings = opened.document->settings;
  }
  return files;
}

bool CommandSettings::isGiven(const Setting& setting) const {
  const std::string name = setting.option.name;
  const CLI::Option* const option = name.empty() ? nullptr : m_command.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

const RunSettings& CommandSettings::written(const Setting& setting) const {
  return isOfQuery(setting) ? m_query : m_session;
}

RunSettings CommandSettings::of(const InputFile& file) const {
  RunSettings settings = file.settings.value_or(m_session);
  for (const Setting& setting : workbench::runSettings()) {
    const bool isOptions =
        !file.settings || isGiven(setting) || isOfServer(setting) || setting.effect == SettingEffect::Record;
    if (isOptions) copy(setting, written(setting), settings);
  }
  if (!file.settings && !isGiven(*workbench::findSetting("policy"))) settings.policy = usualPolicy(settings);
  return settings;
}

/// The model's configuration is read once, however many queries there are.
const std::string& CommandSettings::usualPolicy(const RunSettings& settings) const {
  if (!m_usualPolicy) m_usualPolicy = workbench::usualPolicyOf(settings);
  return *m_usualPolicy;
}

void useUsualPolicy(const CLI::App& command, RunSettings& settings) {
  if (command.count("--policy") == 0) settings.policy = workbench::usualPolicyOf(settings);
}

RunSettings CommandSettings::ofSession(const std::vector<InputFile>& files) const {
  RunSettings session = m_session;
  const InputFile* first = nullptr;
  for (const InputFile& file : files) {
    if (!file.settings) continue;
    for (const Setting& setting : workbench::runSettings()) {
      if (!isOfSession(setting) || isGiven(setting)) continue;
      if (first != nullptr && !isSame(setting, *file.settings, session)) {
        throw Failure({.file = inputName(file.name),
                       .place = "settings, " + std::string(setting.key),
                       .found = valueOf(setting, *file.settings),
                       .expected = valueOf(setting, session) + " as in " + inputName(first->name) +
                                   ", since all files have one model and one cache; " + setting.option.name +
                                   " says which"});
      }
      copy(setting, *file.settings, session);
    }
    if (first == nullptr) first = &file;
  }
  return session;
}

void CommandSettings::checkServer(const InputFile& file) const {
  if (!file.settings || m_command.count("--embeddings-url") > 0) return;
  RunSettings wanted = of(file);
  for (const Setting& setting : workbench::runSettings()) {
    if (isOfServer(setting)) copy(setting, *file.settings, wanted);
  }
  const document::OpenedDocument opened = document::readDocument(file.text);
  const auto query = document::toQuery(*opened.document, document::TakeOut::MutedAndFrozen).query;
  if (!query || !workbench::asksServer(*query, wanted)) return;
  throw Failure({.file = inputName(file.name),
                 .place = "settings, embeddings",
                 .found = "vectors from the server " + textOf(wanted.embeddingsUrl),
                 .expected = "--embeddings-url and --embeddings-model, which allow texts to be sent there, "
                             "or --rank lexical"});
}

}  // namespace spanscope::cli
