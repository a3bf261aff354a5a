// SPDX-License-Identifier: GPL-3.0-or-later
// The settings of documents, where a command runs them.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/cli11_forward.h"
#include "engine/workbench/settings.h"

#include <optional>
#include <string>
#include <vector>

namespace spanscope::cli {

/// A file as a command reads it.
struct InputFile {
  std::string name;
  std::string text;
  std::optional<workbench::RunSettings> settings;  ///< of a document without errors
};

/// Reads each of them once. Throws as readInput().
std::vector<InputFile> readInputFiles(const std::vector<std::string>& names, const Streams& streams);

/// What options gave, and of a document its own settings where they gave nothing. What is recorded, and
/// whether texts are sent to a server for their vectors, is for options alone to say: nobody opens a document
/// for its own sake here.
class CommandSettings {
 public:
  /// `session` and `query`: what the options of the command write to, of the planning and retrieval in
  /// `query`. All three outlive this.
  CommandSettings(const CLI::App& command, const workbench::RunSettings& session,
                  const workbench::RunSettings& query)
      : m_command(command), m_session(session), m_query(query) {}

  workbench::RunSettings of(const InputFile& file) const;
  /// What all files share: model and cache. Throws Failure where documents ask for different ones.
  workbench::RunSettings ofSession(const std::vector<InputFile>& files) const;
  /// Throws Failure where the document's own settings have a server give vectors and no option allows it.
  void checkServer(const InputFile& file) const;

 private:
  bool isGiven(const workbench::Setting& setting) const;
  const workbench::RunSettings& written(const workbench::Setting& setting) const;

  const CLI::App& m_command;
  const workbench::RunSettings& m_session;
  const workbench::RunSettings& m_query;
};

}  // namespace spanscope::cli
