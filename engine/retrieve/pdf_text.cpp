// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/pdf_text.h"

#include "engine/base/child_process.h"
#include "engine/base/readable_file.h"
#include "engine/retrieve/document_text.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

namespace spanscope::retrieve {
namespace {

using Clock = std::chrono::steady_clock;

/// Max delay of a stop.
constexpr int kLookMilliseconds = 50;
/// The processor time is limited. Time on the clock is limited as well, so that a suspended process ends too.
/// On a busy machine, time on the clock is many times the processor time.
constexpr int kClockTimes = 20;

const char* const kReadable = /*id:pdf-can-read*/ "a PDF that can be read";

std::string systemError(int number) {
  return std::generic_category().message(number);
}

/// Returns a memory file with these bytes, at its beginning. A number below 0: errno has the error.
Descriptor fileOf(std::string_view bytes) {
  Descriptor file(memfd_create("pdf", MFD_CLOEXEC));
  if (file.number() < 0) return file;
  while (!bytes.empty()) {
    const ssize_t count = write(file.number(), bytes.data(), bytes.size());
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) return Descriptor(-1);
  }
  if (lseek(file.number(), 0, SEEK_SET) != 0) return Descriptor(-1);
  return file;
}

/// The program that reads one PDF. The program is killed on destruction.
class PdfProcess {
 public:
  /// The error if the program could not be started.
  std::optional<Error> start(std::string_view bytes, const PdfLimits& limits) {
    const auto noProcess = [](int number) {
      return Error{{},
                   {},
                   "no process to read the PDF (" + systemError(number) + ")",
                   "a system with enough memory and processes"};
    };
    const Descriptor input = fileOf(bytes);
    if (input.number() < 0) return noProcess(errno);
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return noProcess(errno);
    m_output = Descriptor(ends[0]);
    const Descriptor output(ends[1]);

    const std::string program = helperProgram(SPANSCOPE_PDF_PROGRAM).string();
    const int failed =
        m_process.start({program, std::to_string(limits.memory), std::to_string(limits.processor.count())},
                        input.number(), output.number());
    if (failed == 0) return std::nullopt;
    if (failed != ENOENT) return noProcess(failed);
    return Error{program, {}, "no program that reads PDFs", "a complete installation"};
  }

  int output() const { return m_output.number(); }

  /// Waits for the process after it has closed its output. Returns the status of waitpid(), or nothing if the
  /// status is unknown.
  std::optional<int> wait() { return m_process.wait(); }

 private:
  ChildProcess m_process;
  Descriptor m_output{-1};
};

/// Joins the records, whatever bytes they have.
class PdfRecords {
 public:
  std::vector<std::string> pages;
  std::vector<std::size_t> damagedPages;
  bool isDamaged = false;  ///< the next page, or all pages if there is no next one
  std::string found;
  std::string expected;
  bool isAtEnd = false;

  /// Returns nothing, or the reason why the records are refused.
  std::optional<Error> take(std::string_view bytes) {
    m_rest += bytes;
    std::string_view rest = m_rest;
    while (rest.size() >= kPdfRecordHead) {
      std::size_t size = 0;
      for (std::size_t i = kPdfRecordHead - 1; i > 0; --i)
        size = size << 8U | static_cast<unsigned char>(rest[i]);
      if (m_size + size > kMaxDocumentBytes) {
        return Error{{},
                     "page " + std::to_string(pages.size() + 1),
                     "more than " + std::to_string(kMaxDocumentBytes) + " bytes of text",
                     "less text"};
      }
      if (rest.size() < kPdfRecordHead + size) break;
      const std::string_view text = rest.substr(kPdfRecordHead, size);
      const auto kind = static_cast<PdfRecord>(rest.front());
      if (kind == PdfRecord::Damaged) isDamaged = true;
      if (kind == PdfRecord::Page) {
        pages.emplace_back(text);
        if (std::exchange(isDamaged, false)) damagedPages.push_back(pages.size());
      }
      if (kind == PdfRecord::Found) found = text;
      if (kind == PdfRecord::Expected) expected = text;
      if (kind == PdfRecord::End) isAtEnd = true;
      if (pages.size() > static_cast<std::size_t>(kMaxPdfPages))
        return Error{{}, {}, "too many pages", "at most " + std::to_string(kMaxPdfPages) + " pages"};
      m_size += size;
      rest.remove_prefix(kPdfRecordHead + size);
    }
    m_rest.erase(0, m_rest.size() - rest.size());
    return std::nullopt;
  }

 private:
  std::string m_rest;
  std::size_t m_size = 0;  ///< bytes of the texts that were taken
};

Error tooLong(const PdfLimits& limits) {
  return {{},
          {},
          "a PDF whose reading took more than " + std::to_string(limits.processor.count()) +
              " s of processor time",
          "a simpler PDF (some PDFs take unlimited time)"};
}

/// Returns the reason why the process ended early.
Error deathOf(const std::optional<int>& status, const PdfLimits& limits) {
  if (status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGXCPU) return tooLong(limits);
  std::string found = "a PDF that needs more than " + std::to_string(limits.memory >> 20U) +
                      " MiB of memory, or that is damaged: its reader ended";
  if (status && WIFSIGNALED(*status)) found += " by signal " + std::to_string(WTERMSIG(*status));
  return {{}, {}, std::move(found), kReadable};
}

}  // namespace

PdfLimits pdfLimits(std::size_t bytes) {
  constexpr std::size_t kBytesPerSecond = std::size_t{64} << 10U;
  constexpr std::chrono::seconds kLongest{300};
  PdfLimits limits;
  limits.processor += std::chrono::seconds(bytes / kBytesPerSecond);
  limits.processor = std::min(limits.processor, kLongest);
  return limits;
}

std::variant<PdfText, Error> readPdf(std::string_view bytes, const PdfLimits& limits,
                                     const std::stop_token& stop) {
  if (bytes.empty()) return Error{{}, {}, "an empty file", kReadable};
  if (bytes.size() > kMaxDocumentBytes)
    return Error{{}, {}, std::to_string(bytes.size()) + " bytes", kReadable};
  PdfProcess process;
  if (auto error = process.start(bytes, limits)) return std::move(*error);
  PdfRecords records;
  std::vector<char> buffer(std::size_t{1} << 16U);
  const Clock::time_point last = Clock::now() + kClockTimes * limits.processor;
  for (;;) {
    pollfd waiting{.fd = process.output(), .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, kLookMilliseconds);
    if (stop.stop_requested()) return Error{{}, {}, "The reading was stopped.", {}};
    if (Clock::now() > last) return tooLong(limits);
    if (ready <= 0) continue;
    const ssize_t count = read(process.output(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    if (auto error = records.take({buffer.data(), static_cast<std::size_t>(count)})) return std::move(*error);
  }
  const std::optional<int> status = process.wait();
  if (!records.isAtEnd) return deathOf(status, limits);
  if (!records.found.empty()) return Error{{}, {}, std::move(records.found), std::move(records.expected)};
  for (std::string& page : records.pages) page = withPlainLetters(page);
  PdfText text;
  text.isDamaged = records.isDamaged && records.pages.empty();
  text.pages = std::move(records.pages);
  text.damagedPages = std::move(records.damagedPages);
  return text;
}

std::string withPlainLetters(std::string_view text) {
  struct Replacement {
    std::string_view from;
    std::string_view to;
  };
  // U+FB00 … U+FB06 in UTF-8.
  static constexpr std::array kLigatures = {
      Replacement{"\xEF\xAC\x80", "ff"},  Replacement{"\xEF\xAC\x81", "fi"},
      Replacement{"\xEF\xAC\x82", "fl"},  Replacement{"\xEF\xAC\x83", "ffi"},
      Replacement{"\xEF\xAC\x84", "ffl"}, Replacement{"\xEF\xAC\x85", "st"},
      Replacement{"\xEF\xAC\x86", "st"}};
  constexpr std::string_view kSoftHyphen = "\xC2\xAD";
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    if (text.starts_with(kSoftHyphen)) {
      text.remove_prefix(kSoftHyphen.size());
      const std::size_t next = std::min(text.find_first_not_of(" \t\r\n"), text.size());
      // Poppler begins a page's last line end with a form feed. A word does not continue after this line end.
      if (text.substr(0, next).find('\n') != std::string_view::npos) text.remove_prefix(next);
      continue;
    }
    const auto* const ligature = std::ranges::find_if(
        kLigatures, [&](const Replacement& known) { return text.starts_with(known.from); });
    if (ligature != kLigatures.end()) {
      plain += ligature->to;
      text.remove_prefix(ligature->from.size());
    } else {
      plain += text.front();
      text.remove_prefix(1);
    }
  }
  return plain;
}

}  // namespace spanscope::retrieve
