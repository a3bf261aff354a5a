// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/token_counts.h"

#include "engine/base/error.h"

#include <QCoreApplication>
#include <QMetaObject>
#include <QPointer>
#include <QThreadPool>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <variant>

namespace spanscope::ui {

/// Only the window's thread uses this object.
struct TokenCounts::Books {
  using Count = std::variant<std::int64_t, Error>;

  void note(const std::string& text, Count count) {
    // While a user types, every state of the text is counted separately.
    constexpr std::size_t kMostKept = 10'000;
    // The limit in bytes applies first for long texts.
    constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
    if (counts.size() >= kMostKept || bytes >= kMostBytes) {
      counts.clear();
      bytes = 0;
    }
    bytes += text.size();
    counts.insert_or_assign(text, std::move(count));
  }

  std::map<std::string, Count> counts;  ///< by text
  std::size_t bytes = 0;                ///< total size of the texts
  std::deque<std::string> waiting;      ///< the newest request first
  std::optional<std::string> current;   ///< the text that is being counted
  std::function<void()> reported;
};

TokenCounts::TokenCounts(std::shared_ptr<const text::Tokenizer> tokenizer)
    : m_tokenizer(std::move(tokenizer)), m_books(std::make_shared<Books>()) {}

TokenCounts::~TokenCounts() {
  m_stop.request_stop();
}

void TokenCounts::onCounted(std::function<void()> reported) {
  m_books->reported = std::move(reported);
}

std::optional<std::int64_t> TokenCounts::count(const std::string& text) {
  Books& books = *m_books;
  if (const auto found = books.counts.find(text); found != books.counts.end()) {
    if (const auto* error = std::get_if<Error>(&found->second)) throw Failure(*error);
    return std::get<std::int64_t>(found->second);
  }
  if (text.size() <= kCountedAtOnce) {
    const auto tokens = static_cast<std::int64_t>(m_tokenizer->count(text));
    books.note(text, tokens);
    return tokens;
  }
  // A view that still needs a dropped text requests it again when the others are counted.
  constexpr std::size_t kMostWaiting = 16;
  if (books.current != text) {
    std::erase(books.waiting, text);
    books.waiting.push_front(text);
    if (books.waiting.size() > kMostWaiting) books.waiting.pop_back();
    if (!books.current) countNext(m_books, m_tokenizer, m_stop.get_token());
  }
  return std::nullopt;
}

void TokenCounts::countNext(const std::shared_ptr<Books>& books,
                            const std::shared_ptr<const text::Tokenizer>& tokenizer,
                            const std::stop_token& stop) {
  books->current.reset();
  if (books->waiting.empty() || stop.stop_requested()) return;
  books->current = std::move(books->waiting.front());
  books->waiting.pop_front();
  QThreadPool::globalInstance()->start([weak = std::weak_ptr(books), tokenizer, stop, text = *books->current,
                                        context = QPointer<QObject>(qApp)] {
    std::optional<Books::Count> count;
    try {
      count = static_cast<std::int64_t>(tokenizer->count(text, {.stop = stop}));
    } catch (const Failure& failure) {
      count = failure.error();
    }
    // The application ends after the tasks of the thread pool.
    if (stop.stop_requested() || context == nullptr) return;
    QMetaObject::invokeMethod(
        context.data(),
        [weak, tokenizer, stop, text, made = std::move(*count)] {
          const std::shared_ptr<Books> kept = weak.lock();
          if (!kept || stop.stop_requested()) return;
          kept->note(text, made);
          countNext(kept, tokenizer, stop);
          if (kept->reported) kept->reported();
        },
        Qt::QueuedConnection);
  });
}

std::shared_ptr<TokenCounts> countsOf(const std::shared_ptr<const text::Tokenizer>& tokenizer,
                                      const std::shared_ptr<TokenCounts>& counts) {
  const bool isSame = counts && counts->tokenizer() == tokenizer;
  return isSame ? counts : std::make_shared<TokenCounts>(tokenizer);
}

}  // namespace spanscope::ui
