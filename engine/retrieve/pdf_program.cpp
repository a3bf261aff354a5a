// SPDX-License-Identifier: GPL-3.0-or-later
// A separate program that reads a PDF with poppler. PDFs can come from unknown sources. Some PDFs need
// unlimited memory or time, or crash the library. readPdf() (pdf_text.h) starts this program with two
// arguments: bytes of memory, and seconds of processor time. The PDF is the standard input. pdf_text.h
// defines the output.
#include "engine/retrieve/pdf_text.h"

#include <poppler-document.h>
#include <poppler-global.h>
#include <poppler-page.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

// The address sanitizer and the thread sanitizer reserve terabytes of addresses.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SPANSCOPE_RESERVES_ADDRESSES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SPANSCOPE_RESERVES_ADDRESSES 1
#endif

namespace {

using spanscope::retrieve::PdfRecord;

/// Counts poppler's messages about a file. The messages are not printed to standard error.
void countRemark(const std::string& /*remark*/, void* count) {
  ++*static_cast<std::size_t*>(count);
}

bool isBlank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

void limit(__rlimit_resource_t resource, rlim_t most) {
  const rlimit value{.rlim_cur = most, .rlim_max = most};
  setrlimit(resource, &value);
}

void limitThisProcess(rlim_t memory, rlim_t seconds) {
  // The process ends when the program that started this process ends. The output then has no reader.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  limit(RLIMIT_CORE, 0);
  // The first limit sends SIGXCPU, which shows the reason of the end. The second limit must come later.
  const rlimit time{.rlim_cur = seconds, .rlim_max = seconds + 1};
  setrlimit(RLIMIT_CPU, &time);
#ifdef SPANSCOPE_RESERVES_ADDRESSES
  static_cast<void>(memory);
#else
  limit(RLIMIT_AS, memory);
#endif
}

std::string readAll(int descriptor) {
  std::string bytes;
  std::vector<char> buffer(std::size_t{1} << 16U);
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0) return bytes;
    if (count < 0 && errno != EINTR) std::exit(EXIT_FAILURE);
  }
}

void writeAll(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (count > 0) bytes.remove_prefix(static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) std::exit(EXIT_FAILURE);
  }
}

void writeRecord(PdfRecord kind, std::string_view bytes) {
  std::string head(1, static_cast<char>(kind));
  for (unsigned shift = 0; shift < 32; shift += 8) head += static_cast<char>((bytes.size() >> shift) & 0xFFU);
  writeAll(head);
  writeAll(bytes);
}

int refuse(std::string_view found, std::string_view expected) {
  writeRecord(PdfRecord::Found, found);
  writeRecord(PdfRecord::Expected, expected);
  writeRecord(PdfRecord::End, {});
  return EXIT_SUCCESS;
}

int writePages(const std::string& bytes) {
  if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) return EXIT_FAILURE;
  std::size_t remarks = 0;
  poppler::set_debug_error_function(countRemark, &remarks);
  const std::unique_ptr<poppler::document> document(
      poppler::document::load_from_raw_data(bytes.data(), static_cast<int>(bytes.size())));
  if (document == nullptr) {
    if (bytes.compare(0, 5, "%PDF-") == 0)
      return refuse("a damaged PDF (truncated or changed)",
                    "a complete PDF. Download or export the file again");
    return refuse(/*id:bytes-no-pdf*/ "bytes that are not a PDF", "a PDF");
  }
  if (document->is_locked())
    return refuse("an encrypted PDF, which needs a password or a certificate", "a PDF without encryption");
  const std::size_t remarksOnFile = remarks;
  const int pages = document->pages();
  if (pages < 0 || pages > spanscope::retrieve::kMaxPdfPages) {
    return refuse(std::to_string(pages) + " pages",
                  "at most " + std::to_string(spanscope::retrieve::kMaxPdfPages));
  }
  // A file without pages always has a message. Further messages are about missing parts.
  if (pages == 0 && (remarksOnFile > 0 || remarks > 1)) writeRecord(PdfRecord::Damaged, {});
  for (int i = 0; i < pages; ++i) {
    const std::size_t before = remarks;
    const std::unique_ptr<poppler::page> page(document->create_page(i));
    // If a page is damaged, the other pages are still readable and keep their numbers.
    if (page == nullptr) {
      writeRecord(PdfRecord::Damaged, {});
      writeRecord(PdfRecord::Page, {});
      continue;
    }
    const poppler::byte_array text = page->text({}, poppler::page::non_raw_non_physical_layout).to_utf8();
    const std::string_view words(text.data(), text.size());
    if (isBlank(words) && remarks > before) writeRecord(PdfRecord::Damaged, {});
    writeRecord(PdfRecord::Page, words);
  }
  writeRecord(PdfRecord::End, {});
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  limitThisProcess(std::strtoull(argv[1], nullptr, 10), std::strtoull(argv[2], nullptr, 10));
  // Missing memory ends the process at any place. The program that started this process reports the missing
  // memory.
  try {
    return writePages(readAll(STDIN_FILENO));
  } catch (const std::bad_alloc&) {
    return EXIT_FAILURE;
  }
}
