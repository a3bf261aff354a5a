// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/retrieve/pdf_text.h"

#include "engine/retrieve/document_text.h"

#include <poppler-document.h>
#include <poppler-global.h>
#include <poppler-page.h>

#include <memory>

namespace spanscope::retrieve {
namespace {

/// What poppler finds odd in a file is not for standard error.
void ignoreRemark(const std::string&, void*) {}

}  // namespace

std::variant<std::vector<std::string>, Error> readPdf(std::string_view bytes) {
  const char* const expected = "a PDF that can be read";
  if (bytes.empty() || bytes.size() > kMaxDocumentBytes) {
    return Error{{}, {}, std::to_string(bytes.size()) + " bytes", expected};
  }
  poppler::set_debug_error_function(ignoreRemark, nullptr);
  const std::unique_ptr<poppler::document> document(
      poppler::document::load_from_raw_data(bytes.data(), static_cast<int>(bytes.size())));
  if (document == nullptr) return Error{{}, {}, "bytes that are no PDF, or a damaged one", expected};
  if (document->is_locked()) return Error{{}, {}, "a PDF that wants a password", "one without"};
  const int pages = document->pages();
  if (pages < 0 || pages > kMaxPdfPages) {
    return Error{{}, {}, std::to_string(pages) + " pages", "at most " + std::to_string(kMaxPdfPages)};
  }
  std::vector<std::string> texts;
  std::size_t size = 0;
  for (int i = 0; i < pages; ++i) {
    const std::unique_ptr<poppler::page> page(document->create_page(i));
    // A damaged page leaves the others readable, and keeps their numbers.
    if (page == nullptr) {
      texts.emplace_back();
      continue;
    }
    const poppler::byte_array text = page->text({}, poppler::page::non_raw_non_physical_layout).to_utf8();
    size += text.size();
    if (size > kMaxDocumentBytes) {
      return Error{{},
                   "page " + std::to_string(i + 1),
                   "more text than " + std::to_string(kMaxDocumentBytes) + " bytes",
                   "less"};
    }
    texts.emplace_back(text.begin(), text.end());
  }
  return texts;
}

}  // namespace spanscope::retrieve
