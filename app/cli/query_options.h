// SPDX-License-Identifier: GPL-3.0-or-later
// The options of every command that plans a query.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/command.h"
#include "app/cli/query_inputs.h"
#include "app/cli/session_options.h"
#include "engine/workbench/model_bundle.h"
#include "engine/workbench/pipeline.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::cli {

inline constexpr const char* kRetrievalGroup = "Retrieval (augment)";

struct QueryOptionTexts {
  /// Refuses options that contradict each other. Throws the same errors as refuseOption().
  void check() const;

  workbench::RunSettings settings = commandSettings();
  std::vector<std::string> values;   ///< "name=value"
  std::vector<std::string> folders;  ///< folders that queries may read in addition to their own
  std::shared_ptr<SharedInputs> book = std::make_shared<SharedInputs>();
  std::vector<std::string> rules;  ///< "name=on" or "name=off"
  workbench::RetrievalSettings retrieval;
  const CLI::Option* reducePrompt = nullptr;
  std::vector<const CLI::Option*> retrievalOptions;  ///< the options that addRetrievalOptions() added
};

/// The options of a command, and the inputs of its queries.
struct QueryOptions : workbench::PipelineInput {
  std::vector<std::string> folders;
  std::shared_ptr<SharedInputs> book;
  std::shared_ptr<workbench::Retrieval> retriever;  ///< the object to which `retrieval` points
  std::vector<std::string> givenForRetrieval;       ///< names of given options that only an augment uses
};

/// The help of an argument for one query file or several query files.
extern const char* const kQueryFileHelp;
extern const char* const kQueryFilesHelp;

/// Adds --read-from.
void addReadFromOption(CLI::App& command, QueryOptionTexts& texts);
/// Adds --set, --answer and --read-from.
void addSettingOption(CLI::App& command, QueryOptionTexts& texts);
void addLocalityOptions(CLI::App& command, QueryOptionTexts& texts);
/// Adds --passages, --rank, --embeddings-url, --embeddings-model, --summaries, --chunk, --overlap and
/// --index.
void addRetrievalOptions(CLI::App& command, QueryOptionTexts& texts);
void addPlanOptions(CLI::App& command, QueryOptionTexts& texts);

QueryOptions queryOptions(const QueryOptionTexts& texts);
/// Returns the same options, but with the planning and retrieval of these settings.
QueryOptions withSettings(QueryOptions options, const QueryOptionTexts& texts,
                          const workbench::RunSettings& settings);
/// Sets up retrieval, which replaces augments by their passages. The model of `modelDirectory` (empty: the
/// bundled model) splits documents into passages. If the options request this, the model also embeds and
/// summarizes the passages. All files that are planned with these options share an index. Long indexing shows
/// its progress on standard error.
void retrieveWith(QueryOptions& options, const QueryOptionTexts& texts, const Context& context,
                  const std::filesystem::path& modelDirectory = {},
                  const workbench::ModelOptions& model = {});

/// Warns of:
/// - values for parameters that no query has,
/// - answers to questions that no query asked,
/// - folders from which no query read,
/// - options of retrieval if no query has an augment.
///
/// There is no warning if an error of a query may be the reason.
void warnOfUnused(const QueryOptions& options, const Streams& streams);

/// Warns only of folders, for a command without the other options.
void warnOfUnusedFolders(const std::vector<std::string>& folders, const SharedInputs& book,
                         std::ostream& err);

/// A planned query with its parameters.
struct PlannedFile {
  workbench::PipelineResult made;
  std::vector<query::ParameterInfo> parameters;
  std::map<std::string, std::string> values;  ///< given values of parameters

  const query::Node& query() const { return *made.queryAfter(workbench::Stage::Plan); }
  const plan::Plan& plan() const { return *made.plan; }
};

/// Reads and plans a file. Writes its diagnostics to standard error. Returns nothing if there was an error.
std::optional<PlannedFile> planFile(const std::string& file, const QueryOptions& options,
                                    const Streams& streams);
/// Plans the text of a file that was read already, in the same way.
std::optional<PlannedFile> planText(const std::string& file, const std::string& text,
                                    const QueryOptions& options, const Streams& streams);

/// A query from a file, with the places of its nodes.
struct QueryFile {
  query::Node query;
  std::string text;
  query::SourceMap sources;
  std::optional<DocumentPlaces> places{};   ///< set for the query of a document; then `sources` is empty
  std::map<NodePath, std::string> names{};  ///< the names of files whose texts the query has
};

/// Sets the position of a diagnostic of the query in the text.
void locate(query::Diagnostic& diagnostic, const QueryFile& file);

/// Reads a file whose query will be sent to a server. Writes its diagnostics to standard error. Returns
/// nothing if there was an error.
std::optional<QueryFile> readFileForServer(const std::string& file, const QueryOptions& options,
                                           const Streams& streams);

}  // namespace spanscope::cli
