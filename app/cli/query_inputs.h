// SPDX-License-Identifier: GPL-3.0-or-later
// Inputs of queries on the command line: answers from options and the terminal, and files beside the query.
// Also has the settings of a command that runs documents. Given options override the document's settings.
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
  /// The given folders of --read-from from which a query has read a file.
  std::set<std::string> readFolders;
  std::vector<query::ParameterInfo> parameters;  ///< parameters of all queries so far
  std::vector<FileIdentity> files;               ///< files that were read
  bool isComplete = true;                        ///< whether all queries could be read
  bool isFinished = true;                        ///< whether all queries ended without an error
  bool hasAugment = false;                       ///< whether a query has an augment
};

/// The surroundings of one query file. If the book has no answer to a question, the user answers on the
/// terminal, if there is a terminal. The book keeps all answers.
class QueryInputs final : public query::Surroundings {
 public:
  /// `file` is the name on the command line; "-" counts as a file in the working folder. The book and the
  /// streams must outlive this object. The book notes all files that the query reads, and `file`.
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

/// Maps the nodes of a document's query to places in the document's text.
struct DocumentPlaces {
  /// Maps the path of a node in the query that runs to its path in the written query. The written query also
  /// has muted nodes.
  std::map<NodePath, NodePath> written;
  query::SourceMap sources;    ///< places in the written query, in bytes from `queryBegin`
  std::size_t queryBegin = 0;  ///< byte of the text at which the query begins
};

/// If a diagnostic of the query that runs has no position, sets the position in the document. The position is
/// the place of the node at the pointer of the diagnostic. For a field, the place of the node around the
/// field is used.
void locate(query::Diagnostic& diagnostic, const DocumentPlaces& places, std::string_view text);

/// The query of a document, with the values of its parameters. The layout is left out, because only the
/// window uses the layout. The settings are left out, because readInputFiles() reads the settings.
struct DocumentInput {
  /// The query that runs: without muted branches, and with frozen answers in place of frozen nodes. Nothing:
  /// the document has an error.
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
  /// Settings of the document, if the file is a document without errors.
  std::optional<workbench::RunSettings> settings;
};

/// Reads each file once. Throws the same errors as readInput().
std::vector<InputFile> readInputFiles(const std::vector<std::string>& names, const Streams& streams);

/// The settings of a command. Given options override a document's own settings. Only options can turn on
/// recording, or embedding by a server. The reason: a document may be from somebody else.
class CommandSettings {
 public:
  /// The options for planning and retrieval write to `query`. Other options write to `session`. All three
  /// arguments must outlive this object.
  CommandSettings(const CLI::App& command, const workbench::RunSettings& session,
                  const workbench::RunSettings& query)
      : m_command(command), m_session(session), m_query(query) {}

  /// The settings for one file. A plain query has the usual policy of the model, unless an option sets the
  /// policy.
  workbench::RunSettings of(const InputFile& file) const;
  /// The settings that all files share: model and cache. Throws Failure if documents have different models or
  /// caches.
  workbench::RunSettings ofSession(const std::vector<InputFile>& files) const;
  /// Throws Failure if the document's own settings use vectors from a server and no option allows such
  /// requests.
  void checkServer(const InputFile& file) const;

 private:
  bool isGiven(const workbench::Setting& setting) const;
  const std::string& usualPolicy(const workbench::RunSettings& settings) const;
  const workbench::RunSettings& written(const workbench::Setting& setting) const;

  const CLI::App& m_command;
  const workbench::RunSettings& m_session;
  const workbench::RunSettings& m_query;
  mutable std::optional<std::string>
      m_usualPolicy;  ///< usual policy of the model in the options; nothing: not known yet
};

/// Sets the usual policy of the model in the settings, unless the user gave --policy.
void useUsualPolicy(const CLI::App& command, workbench::RunSettings& settings);

}  // namespace spanscope::cli
