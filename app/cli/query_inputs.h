// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs of queries on the command line: answers from options and the terminal, and files beside the query.
// Also the settings of a command that runs documents: given options come before the document's settings.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/command.h"
#include "engine/base/ids.h"
#include "engine/base/readable_file.h"
#include "engine/query/diagnostic.h"
#include "engine/query/files/file_access.h"
#include "engine/query/parameters.h"
#include "engine/query/query.h"
#include "engine/query/surroundings.h"
#include "engine/retrieve/resolve_augments.h"
#include "engine/workbench/settings.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace spanscope::cli {

/// Inputs that all queries of one command share.
struct SharedInputs {
  std::vector<std::string> given;              ///< answers from --answer, in the order of the questions
  std::size_t used = 0;                        ///< how many of `given` were used
  std::map<std::string, std::string> answers;  ///< answers by question
  /// Folders of --read-from from which a query read something, as they were given.
  std::set<std::string> readFolders;
  std::vector<query::ParameterInfo> parameters;  ///< parameters of all queries so far
  std::vector<FileIdentity> files;               ///< files that were read
  bool isComplete = true;                        ///< whether all queries could be read
  bool isFinished = true;                        ///< whether all queries reached their end without an error
  bool hasAugment = false;                       ///< whether a query has an augment
};

/// The surroundings of one query file. The book answers a question if it can. Otherwise the user is asked on
/// the terminal, if there is one. The book keeps the answers in both cases.
class QueryInputs final : public query::Surroundings {
 public:
  /// `file` is the name on the command line; "-" counts as a file in the working folder. The book and the
  /// streams must outlive this object. The book notes the files that were read, `file` included.
  QueryInputs(const std::string& file, const std::vector<std::string>& folders, SharedInputs& book,
              const Streams& streams);

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override;
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override;
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override;

 private:
  void noteUse(const std::string& path);

  std::filesystem::path m_folder;
  std::vector<std::string> m_others;
  query::FileAccess m_files;
  SharedInputs& m_book;
  const Streams& m_streams;
};

// Reads Spanscope documents (.span) where a command takes queries.

/// The places of a document's query in the document's text.
struct DocumentPlaces {
  /// Maps the path of a node in the query that runs to its path in the written query. The written query also
  /// has muted nodes.
  std::map<NodePath, NodePath> written;
  query::SourceMap sources;    ///< places in the written query, in bytes from `queryBegin`
  std::size_t queryBegin = 0;  ///< byte of the text at which the query begins
};

/// Gives a diagnostic of the query that runs a position in the document, unless it has one. The position is
/// that of the node at its pointer. For a field, it is the position of the node around the field.
void locate(query::Diagnostic& diagnostic, const DocumentPlaces& places, std::string_view text);

/// The query of a document with its values. The layout is left out, because only the window uses it. The
/// settings are left out, because readInputFiles() reads them.
struct DocumentInput {
  /// The query that runs: without muted branches, and with frozen answers in place of their nodes. Nothing if
  /// there was an error.
  std::optional<query::Node> query;
  std::vector<query::Diagnostic> diagnostics;
  std::map<std::string, std::string> values;  ///< values of parameters
  std::vector<query::ParameterDeclaration> declarations;
  /// Pinned and dropped passages, by the path of their augment in `query`.
  std::map<NodePath, retrieve::PassageChoice> choices;
  DocumentPlaces places;
};

/// Reads a document. Returns nothing if the text is no document.
std::optional<DocumentInput> readDocumentInput(std::string_view text);

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
/// options decide what is recorded, and whether texts are sent to a server for their vectors. A document may
/// be from somebody else, so its settings must not decide that.
class CommandSettings {
 public:
  /// The options for planning and retrieval write to `query`, the others to `session`. All three arguments
  /// must outlive this object.
  CommandSettings(const CLI::App& command, const workbench::RunSettings& session,
                  const workbench::RunSettings& query)
      : m_command(command), m_session(session), m_query(query) {}

  /// The settings for one file. A plain query has the usual policy of its model, unless an option chooses
  /// one.
  workbench::RunSettings of(const InputFile& file) const;
  /// The settings that all files share: model and cache. Throws Failure if documents ask for different ones.
  workbench::RunSettings ofSession(const std::vector<InputFile>& files) const;
  /// Throws Failure if the document's own settings use vectors from a server and no option allows it.
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
