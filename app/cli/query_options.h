// SPDX-License-Identifier: GPL-3.0-or-later
// The options that every command which plans a query has.
#pragma once

#include "app/cli/cli.h"
#include "app/cli/command.h"
#include "app/cli/document_input.h"
#include "app/cli/query_inputs.h"
#include "app/workbench/planned_query.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spanscope::cli {

struct QueryOptionTexts {
  std::vector<std::string> settings;  ///< "name=value"
  std::vector<std::string> folders;   ///< that queries may read beside their own
  std::shared_ptr<AnswerBook> book = std::make_shared<AnswerBook>();
  std::uint64_t seed = 0;
  bool noDistribute = false;
  std::string outputForm = "anew";
  std::vector<std::string> rules;  ///< "name=on" or "name=off"
  std::uint32_t locality = 0;
  std::string localityShape = "tree";
  std::optional<std::string> reducePrompt;
  workbench::RetrievalSettings retrieval;
  std::string ranking = "auto";
  std::string embeddingsUrl;
  std::string embeddingsModel;
};

/// The options of a command, and what its queries are given.
struct QueryOptions : workbench::QueryOptions {
  std::vector<std::string> folders;
  std::shared_ptr<AnswerBook> book;
  std::shared_ptr<workbench::Retrieval> retriever;  ///< that `retrieval` points to
};

/// What a query file may be, for the help of an argument.
extern const char* const kQueryFileHelp;
extern const char* const kQueryFilesHelp;

/// --read-from.
void addReadFromOption(CLI::App& command, QueryOptionTexts& texts);
/// --set, --answer and --read-from.
void addSettingOption(CLI::App& command, QueryOptionTexts& texts);
void addLocalityOptions(CLI::App& command, QueryOptionTexts& texts);
/// --fragments, --rank, --embeddings-url, --embeddings-model, --summaries, --chunk, --overlap and --index.
void addRetrievalOptions(CLI::App& command, QueryOptionTexts& texts);
void addPlanOptions(CLI::App& command, QueryOptionTexts& texts);

QueryOptions queryOptions(const QueryOptionTexts& texts);
/// Has augments replaced by what they find, chunked (and embedded and summed up, where it is asked for) by
/// the model of a directory (empty: the bundled one). The files that are planned with these options share an
/// index. What takes long tells standard error how far it is.
void retrieveWith(QueryOptions& options, const QueryOptionTexts& texts, const Context& context,
                  const std::filesystem::path& modelDirectory = {}, int threads = 0);

/// Warns of values for parameters that none of the queries read so far has.
void warnOfUnusedSettings(const QueryOptions& options, const Streams& streams);

/// Reads and plans a file; what is wrong with it goes to standard error. Nothing if there was an error.
std::optional<workbench::PlannedQuery> planFile(const std::string& file, const QueryOptions& options,
                                                const Streams& streams);

/// A query that was read, and where its nodes stood.
struct QueryFile {
  query::Node query;
  std::string text;
  query::SourceMap sources;
  std::optional<DocumentPlaces> places{};  ///< where it is that of a document; then `sources` is empty
};

/// Finds the place in the text of what is wrong with the query.
void locate(query::Diagnostic& diagnostic, const QueryFile& file);

/// Reads a file that is to be sent to a server; what is wrong with it goes to standard error. Nothing if
/// there was an error.
std::optional<QueryFile> readFileForServer(const std::string& file, const QueryOptions& options,
                                           const Streams& streams);

}  // namespace spanscope::cli
