// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/short_names.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

namespace spanscope::ui {
namespace {

/// Fewer letters of a name say nothing. Before a number at its end they say less than the number alone: "7"
/// and not "do…7".
constexpr qsizetype kFewestLetters = 3;
/// A name that is cut in the middle keeps as many letters at both ends, least.
constexpr qsizetype kFewestAtEnds = 2;

struct NameParts {
  QString family;  ///< name without the number at its end and the space before it
  QString number;  ///< digits at the end; may be empty
};

NameParts partsOf(const QString& name) {
  qsizetype digits = 0;
  while (digits < name.size() && name.at(name.size() - 1 - digits).isDigit()) ++digits;
  if (digits == name.size()) return {.family = {}, .number = name};
  return {.family = name.left(name.size() - digits).trimmed(), .number = name.right(digits)};
}

bool fits(const QString& text, double room, const QFontMetrics& metrics) {
  return metrics.horizontalAdvance(text) <= room;
}

QString cutBeforeNumber(const NameParts& parts, qsizetype letters) {
  return parts.family.left(letters).trimmed() + QChar(0x2026) + parts.number;
}

/// How many letters before the cut of "doc…12" fit; 0: too few would be left.
qsizetype lettersFor(const NameParts& parts, double room, const QFontMetrics& metrics) {
  for (qsizetype letters = parts.family.size() - 1; letters >= kFewestLetters; --letters) {
    if (fits(cutBeforeNumber(parts, letters), room, metrics)) return letters;
  }
  return 0;
}

QString cutName(const QString& name, double room, const QFontMetrics& metrics) {
  if (fits(name, room, metrics)) return name;
  const QString cut = metrics.elidedText(name, Qt::ElideMiddle, static_cast<int>(room));
  if (cut.size() > 2 * kFewestAtEnds) return cut;
  const QString letters = name.left(kFewestLetters);
  return fits(letters, room, metrics) ? letters : QString();
}

/// The name of a file without its ending; nothing: it is no name of a file.
std::optional<QString> stemOf(const QString& name) {
  constexpr qsizetype kLongestEnding = 5;
  const qsizetype dot = name.lastIndexOf(QLatin1Char('.'));
  if (dot <= 0 || name.size() - dot - 1 > kLongestEnding || dot + 1 >= name.size()) return std::nullopt;
  const bool isEnding =
      std::all_of(name.begin() + dot + 1, name.end(), [](QChar letter) { return letter.isLetterOrNumber(); });
  return isEnding ? std::optional(name.left(dot)) : std::nullopt;
}

/// Names of files, all shortened alike: without their endings, then to as many letters as fit everywhere, and
/// then to the numbers that they begin with.
void shortenFiles(const std::vector<NameRoom>& names, const std::vector<std::size_t>& files,
                  const QFontMetrics& metrics, std::vector<QString>& result) {
  const auto all = [&](const auto& textOf) {
    return std::all_of(files.begin(), files.end(),
                       [&](std::size_t i) { return fits(textOf(names[i].name), names[i].room, metrics); });
  };
  const auto use = [&](const auto& textOf) {
    for (const std::size_t i : files) {
      const QString text = textOf(names[i].name);
      result[i] = fits(text, names[i].room, metrics) ? text : QString();
    }
  };
  const auto whole = [](const QString& name) { return name; };
  const auto stem = [](const QString& name) { return *stemOf(name); };
  if (all(whole)) return use(whole);
  if (all(stem)) return use(stem);
  qsizetype longest = 0;
  for (const std::size_t i : files) longest = std::max(longest, stem(names[i].name).size());
  for (qsizetype letters = longest - 1; letters >= kFewestLetters; --letters) {
    const auto cut = [&](const QString& name) {
      const QString text = stem(name);
      return text.size() <= letters + 1 ? text : text.left(letters) + QChar(0x2026);
    };
    if (all(cut)) return use(cut);
  }
  use([&](const QString& name) {
    qsizetype digits = 0;
    while (digits < name.size() && name.at(digits).isDigit()) ++digits;
    return digits > 0 ? name.left(digits) : name.left(kFewestLetters);
  });
}

}  // namespace

std::vector<QString> shortNames(const std::vector<NameRoom>& names, const QFontMetrics& metrics) {
  std::vector<QString> result(names.size());
  std::map<QString, std::vector<std::size_t>> families;
  std::vector<std::size_t> files;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NameParts parts = partsOf(names[i].name);
    if (stemOf(names[i].name)) {
      files.push_back(i);
    } else if (parts.number.isEmpty()) {
      result[i] = cutName(names[i].name, names[i].room, metrics);
    } else {
      families[parts.family].push_back(i);
    }
  }
  shortenFiles(names, files, metrics, result);
  for (const auto& [family, members] : families) {
    const bool whole = std::all_of(members.begin(), members.end(), [&](std::size_t i) {
      return fits(names[i].name, names[i].room, metrics);
    });
    qsizetype letters = family.size();
    for (const std::size_t i : members)
      letters =
          std::min(letters, whole ? letters : lettersFor(partsOf(names[i].name), names[i].room, metrics));
    for (const std::size_t i : members) {
      const NameParts parts = partsOf(names[i].name);
      if (whole) {
        result[i] = names[i].name;
      } else if (letters > 0) {
        result[i] = cutBeforeNumber(parts, letters);
      } else {
        result[i] = fits(parts.number, names[i].room, metrics) ? parts.number : QString();
      }
    }
  }
  return result;
}

QString shortName(const QString& name, double room, const QFontMetrics& metrics) {
  return shortNames({{.name = name, .room = room}}, metrics).front();
}

}  // namespace spanscope::ui
