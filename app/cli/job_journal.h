// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps the results of a long job of many lines in a file, so that the job can continue after its program was
// killed. Open this file when a continued job repeats or loses a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace spanscope::cli {

/// The file has a head and one record of JSON for each finished line. The records have the order in which the
/// lines finished. A record that was cut off by a kill is removed when the file is opened. Any thread may
/// call the functions.
class JobJournal {
 public:
  /// Opens the file, or creates it. `job` identifies the job: the same text, the same job. Throws Failure if
  /// the file belongs to another job, is no journal, or is open in another program.
  JobJournal(std::filesystem::path path, const std::string& job);
  ~JobJournal();
  JobJournal(const JobJournal&) = delete;
  JobJournal& operator=(const JobJournal&) = delete;

  /// Whether the line has a result. Lines count from 1.
  bool has(std::size_t line) const;
  std::size_t count() const;
  /// Adds the result of a line, as JSON on one line. The result outlives the program from now on. Throws
  /// OutputFailure.
  void add(std::size_t line, const std::string& result);
  /// Calls `take` for each result in the order of the lines. Throws Failure if the file cannot be read.
  void read(const std::function<void(std::size_t line, const std::string& result)>& take) const;
  /// Removes the file, because the job is complete.
  void remove();

 private:
  struct Place {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  void open(const std::string& job);
  std::string bytesAt(const Place& place) const;

  const std::filesystem::path m_path;
  mutable std::mutex m_mutex;
  int m_file = -1;
  std::uint64_t m_end = 0;
  std::map<std::size_t, Place> m_results;  ///< the last result of each line
};

}  // namespace spanscope::cli
