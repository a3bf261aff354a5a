// SPDX-License-Identifier: GPL-3.0-or-later
// What queries on the command line are given: answers from options and the terminal, files beside the query.
#pragma once

#include "app/cli/cli.h"
#include "engine/base/file_identity.h"
#include "engine/query/files/file_access.h"
#include "engine/query/parameters.h"
#include "engine/query/surroundings.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace spanscope::cli {

/// What the queries of one command share.
struct AnswerBook {
  std::vector<std::string> given;                ///< by --answer, in the order of the questions
  std::size_t used = 0;                          ///< of them
  std::map<std::string, std::string> answers;    ///< by question
  std::set<std::string> readFolders;             ///< of those allowed by --read-from, as they were given
  std::vector<query::ParameterInfo> parameters;  ///< of all queries so far
  std::vector<FileIdentity> files;               ///< that were read
  bool isComplete = true;                        ///< whether all of them could be read
  bool isFinished = true;                        ///< whether all of them came to their end without an error
  bool hasAugment = false;                       ///< whether one of them has
};

/// The surroundings of one query file. A question is answered from the book, else asked on the terminal if
/// there is one; both is kept in the book.
class QueryInputs final : public query::Surroundings {
 public:
  /// `file` as on the command line; "-" lies in the working folder. The book and the streams outlive it. The
  /// book keeps which files were read, this one among them.
  QueryInputs(const std::string& file, const std::vector<std::string>& folders, AnswerBook& book,
              const Streams& streams);

  std::variant<std::string, query::NotGiven> readFile(const std::string& path) override;
  std::variant<query::FileList, query::NotGiven> listFiles(const std::string& path) override;
  std::variant<std::string, query::NotGiven> ask(const std::string& prompt) override;

 private:
  void noteUse(const std::string& path);

  std::filesystem::path m_folder;
  std::vector<std::string> m_others;
  query::FileAccess m_files;
  AnswerBook& m_book;
  const Streams& m_streams;
};

}  // namespace spanscope::cli
