// SPDX-License-Identifier: GPL-3.0-or-later
// Decides which settings count when a command runs documents: the document's or the options'.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/command.h"
#include "engine/workbench/settings.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::cli {

/// A file that a command has read.
struct InputFile {
  std::string name;
  std::string text;
  /// Settings of the document, if the file is one without errors.
  std::optional<workbench::RunSettings> settings;
};

/// Reads each file once. Throws as readInput().
std::vector<InputFile> readInputFiles(const std::vector<std::string>& names, const Streams& streams);

/// The settings of a command: options that were given come first, then a document's own settings. Only
/// options decide what is recorded, and whether texts are sent to a server for their vectors: a document that
/// somebody else wrote must not decide that.
class CommandSettings {
 public:
  /// The options of the command write to `session` and `query`; those for planning and retrieval write to
  /// `query`. All three must outlive this object.
  CommandSettings(const CLI::App& command, const workbench::RunSettings& session,
                  const workbench::RunSettings& query)
      : m_command(command), m_session(session), m_query(query) {}

  /// A query alone has the usual policy of its model, unless an option chooses one.
  workbench::RunSettings of(const InputFile& file) const;
  /// The settings that all files share: model and cache. Throws Failure if documents ask for different ones.
  workbench::RunSettings ofSession(const std::vector<InputFile>& files) const;
  /// Throws Failure if the document's own settings want vectors from a server and no option allows it.
  void checkServer(const InputFile& file) const;

 private:
  bool isGiven(const workbench::Setting& setting) const;
  const std::string& usualPolicy(const workbench::RunSettings& settings) const;
  const workbench::RunSettings& written(const workbench::Setting& setting) const;

  const CLI::App& m_command;
  const workbench::RunSettings& m_session;
  const workbench::RunSettings& m_query;
  mutable std::optional<std::string> m_usualPolicy;  ///< of the options' model; nothing: not asked yet
};

/// Chooses the usual policy of the settings' model, unless the command's --policy chose one.
void useUsualPolicy(const CLI::App& command, workbench::RunSettings& settings);

}  // namespace spanscope::cli
