// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/job_journal.h"

#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/problem_sentence.h"
#include "engine/base/utf8.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

namespace spanscope::cli {

namespace {

constexpr const char* kJournalMark = "spanscope_journal";
constexpr const char* kResultStart = ",\"result\":";

std::string identityText(const std::string& job) {
  const Sha256Value hash = sha256({reinterpret_cast<const std::uint8_t*>(job.data()), job.size()});
  return hexOf(std::span(hash));
}

std::string journalHead(const std::string& job) {
  return nlohmann::ordered_json{{kJournalMark, 1}, {"job", identityText(job)}}.dump() + "\n";
}

[[noreturn]] void failAt(const std::filesystem::path& path, const std::string& expected) {
  throw OutputFailure({path.string(), {}, systemReport(errno), expected});
}

}  // namespace

JobJournal::JobJournal(std::filesystem::path path, const std::string& job) : m_path(std::move(path)) {
  // The results have the texts of answers.
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  m_file = ::open(m_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, kOwner);
  if (m_file < 0) failAt(m_path, "a journal that can be written");
  try {
    open(job);
  } catch (...) {
    ::close(m_file);
    throw;
  }
}

JobJournal::~JobJournal() {
  ::close(m_file);
}

void JobJournal::open(const std::string& job) {
  if (flock(m_file, LOCK_EX | LOCK_NB) != 0)
    throw Failure(
        {m_path.string(), {}, "Another command uses this journal.", "Wait until that command ends."});
  std::ifstream stream(m_path, std::ios::binary);
  const std::string head = journalHead(job);
  std::string line;
  std::uint64_t offset = 0;
  bool isFirst = true;
  while (std::getline(stream, line)) {
    // A kill may leave half a record.
    if (stream.eof()) break;
    const std::uint64_t size = line.size() + 1;
    if (isFirst) {
      if (line + "\n" != head) {
        const bool isJournal = line.starts_with(std::string("{\"") + kJournalMark);
        throw Failure(
            {m_path.string(),
             {},
             isJournal ? "This journal belongs to another job." : "This file is not a journal.",
             "Use the same server, query, inputs and settings as before, or another results file."});
      }
    } else {
      const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
      const std::size_t result = line.find(kResultStart);
      const bool isRecord = record.is_object() && record.contains("line") && result != std::string::npos;
      if (!isRecord) break;
      const std::size_t begin = result + std::string_view(kResultStart).size();
      m_results[record["line"].get<std::size_t>()] = {.offset = offset + begin,
                                                      .size = line.size() - begin - 1};
    }
    isFirst = false;
    offset += size;
  }
  m_end = offset;
  if (ftruncate(m_file, static_cast<off_t>(m_end)) != 0) failAt(m_path, "a journal that can be written");
  if (!isFirst) return;
  if (::write(m_file, head.data(), head.size()) != static_cast<ssize_t>(head.size()))
    failAt(m_path, "free space for the journal");
  m_end = head.size();
}

bool JobJournal::has(std::size_t line) const {
  const std::lock_guard lock(m_mutex);
  return m_results.contains(line);
}

std::size_t JobJournal::count() const {
  const std::lock_guard lock(m_mutex);
  return m_results.size();
}

void JobJournal::add(std::size_t line, const std::string& result) {
  const std::string begin = "{\"line\":" + std::to_string(line) + kResultStart;
  const std::string record = begin + result + "}\n";
  const std::lock_guard lock(m_mutex);
  const ssize_t written = ::write(m_file, record.data(), record.size());
  if (written != static_cast<ssize_t>(record.size())) {
    const int error = errno;
    // Half a record must not be in front of the next record.
    if (ftruncate(m_file, static_cast<off_t>(m_end)) != 0) errno = error;
    failAt(m_path, "free space for the journal");
  }
  m_results[line] = {.offset = m_end + begin.size(), .size = result.size()};
  m_end += record.size();
}

std::string JobJournal::bytesAt(const Place& place) const {
  std::string bytes(place.size, '\0');
  const ssize_t count = pread(m_file, bytes.data(), bytes.size(), static_cast<off_t>(place.offset));
  if (count != static_cast<ssize_t>(bytes.size())) failAt(m_path, "a journal that can be read");
  return bytes;
}

void JobJournal::read(const std::function<void(std::size_t line, const std::string& result)>& take) const {
  const std::lock_guard lock(m_mutex);
  for (const auto& [line, place] : m_results) take(line, bytesAt(place));
}

void JobJournal::remove() {
  std::error_code ignored;
  std::filesystem::remove(m_path, ignored);
}

}  // namespace spanscope::cli
