// SPDX-License-Identifier: GPL-3.0-or-later
// The rows of events about attention (engine/trace/event_fields.h). Open this file to change such an event.
#pragma once

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/base/translation.h"
#include "engine/trace/event.h"
#include "engine/trace/event_rows/facts.h"
#include "engine/trace/event_words.h"
#include "engine/trace/line_pieces.h"
#include "engine/trace/part_fields.h"

#include <optional>
#include <string>

namespace spanscope::trace {

/// Returns the fault of the lists of attention by layer, head and key, if any. `width`: number of keys.
template <class Attention>
std::optional<Error> attentionFault(const Attention& e, std::uint64_t width, const char* key) {
  // Each factor is the length of a list in memory, or less than 2³¹. The product therefore cannot overflow.
  const std::uint64_t rows = e.layers.size() * static_cast<std::uint64_t>(e.heads);
  for (const std::vector<float>* values : {&e.mass, &e.first}) {
    const std::uint64_t count = values->size();
    const bool fits = rows == 0 || width == 0 ? count == 0 : count % width == 0 && count / width == rows;
    if (fits) continue;
    return errorAt(std::string("attention by ") + key, counted(count, "value"),
                   counted(e.layers.size(), "layer") + " of " + counted(e.heads, "head") + " of " +
                       counted(width, std::string("key ") + key));
  }
  return std::nullopt;
}

template <>
struct Facts<SegmentAttention> : UsualFacts {
  static constexpr const char* kName = "segment_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const SegmentAttention&) {
    return forTranslation("Events", "Attention by segment recorded");
  }
  static std::string line(const SegmentAttention& e) {
    return (e.index >= 0 ? "of token " + std::to_string(e.index) + ", " : std::string()) + queryText(e) +
           ", " + counted(e.layers.size(), "layer") + ", " + counted(e.heads, "head") + ", " +
           counted(e.keySegments.size(), "key segment");
  }
};
template <class V, Is<SegmentAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("row", x.row);
  v("rows", x.rows);
  v("keySegments", x.keySegments);
  v("layers", x.layers);
  v("heads", x.heads);
  v("mass", x.mass);
  v("first", x.first);
}

template <>
struct Facts<PartAttention> : UsualFacts {
  static constexpr const char* kName = "part_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const PartAttention& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    if (e.heads < 0) return errorAt("heads", std::to_string(e.heads), "at least 0");
    return attentionFault(e, e.keyParts.size(), "section");
  }
  static const char* plain(const PartAttention&) {
    return forTranslation("Events", "Attention by section recorded");
  }
  static std::string line(const PartAttention& e) {
    return "of token " + std::to_string(e.index) + ", " + counted(e.layers.size(), "layer") + ", " +
           counted(e.heads, "head") + ", " + counted(e.keyParts.size(), "section");
  }
};
template <class V, Is<PartAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("keyParts", x.keyParts);
  v("layers", x.layers);
  v("heads", x.heads);
  v("mass", x.mass);
  v("first", x.first);
}

template <>
struct Facts<AttentionMass> : UsualFacts {
  static constexpr const char* kName = "attention_mass";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  static const char* plain(const AttentionMass&) {
    return forTranslation("Events", "Attention by block recorded");
  }
  static std::string line(const AttentionMass& e) {
    return (e.layer < 0 ? "mean of the layers" : "layer " + std::to_string(e.layer)) + ", " + queryText(e) +
           ", " + counted(e.heads, "head") + ", " + counted(e.keySegments.size(), "key segment");
  }
};
template <class V, Is<AttentionMass> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("segment", x.segment);
  v("virtualIndex", x.virtualIndex);
  v("row", x.row);
  v("rows", x.rows);
  v("keySegments", x.keySegments);
  v("keySpan", x.keySpan);
  v("keyBlocks", x.keyBlocks);
  v("heads", x.heads);
  v("mass", x.mass);
}

template <>
struct Facts<AttentionLeftOut> : UsualFacts {
  static constexpr const char* kName = "attention_left_out";
  static constexpr About kAbout = About::Run;
  static const char* plain(const AttentionLeftOut&) { return forTranslation("Events", "Attention left out"); }
  static std::string line(const AttentionLeftOut& e) {
    return counted(e.leftOut, "record") + " of attention left out, " + std::to_string(e.recorded) +
           " recorded: limit of " + bytesText(e.limit) + " per run";
  }
  static std::optional<Severity> severity(const AttentionLeftOut&) { return Severity::Warning; }
  static EventWords words(const AttentionLeftOut& e, const Event&) {
    constexpr double kMebibyte = 1 << 20;
    const double limit = static_cast<double>(e.limit) / kMebibyte;
    if (e.leftOut == 1) {
      return {forTranslation("Events", "1 attention record left out: limit of %1 MiB per run"), {limit}};
    }
    return {forTranslation(
                "Events",
                /*id:attention-records-left-out*/ "%1 attention records left out: limit of %2 MiB per run"),
            {e.leftOut, limit}};
  }
};
template <class V, Is<AttentionLeftOut> X>
void fields(V&& v, X& x) {
  v("leftOut", x.leftOut);
  v("recorded", x.recorded);
  v("limit", x.limit);
}

template <>
struct Facts<AttentionReplayed> : UsualFacts {
  static constexpr const char* kName = "attention_replayed";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const AttentionReplayed& e) {
    if (e.rows < 0 || e.firstRow < 0) {
      return errorAt("rows", std::to_string(e.rows) + " from " + std::to_string(e.firstRow),
                     "no negative numbers");
    }
    if (e.cachedTokens < 0 || e.recomputedTokens < 0)
      return errorAt("token counts", "a negative number", "at least 0");
    return std::nullopt;
  }
  static const char* plain(const AttentionReplayed&) {
    return forTranslation("Events", "Attention recomputed");
  }
  static std::string line(const AttentionReplayed& e) {
    return "layer " + std::to_string(e.layer) + ", " +
           (e.head < 0 ? std::string("all heads") : "head " + std::to_string(e.head)) + " by " +
           (e.singleKeys ? "token" : "block") + ", " + counted(e.rows, "row") + " recomputed with " +
           counted(e.cachedTokens, "cached token") + " and " + std::to_string(e.recomputedTokens) +
           " recomputed tokens";
  }
};
template <class V, Is<AttentionReplayed> X>
void fields(V&& v, X& x) {
  v("layer", x.layer);
  v("head", x.head);
  v("singleKeys", x.singleKeys);
  v("firstRow", x.firstRow);
  v("rows", x.rows);
  v("cachedTokens", x.cachedTokens);
  v("recomputedTokens", x.recomputedTokens);
}

template <>
struct Facts<ReplayedMass> : UsualFacts {
  static constexpr const char* kName = "replayed_mass";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::Request;
  static constexpr Indexed kIndexed{.byRequest = true};
  using IndexedAs = AttentionReplayed;
  static std::optional<Error> fault(const ReplayedMass& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    return std::nullopt;
  }
  static const char* plain(const ReplayedMass&) {
    return forTranslation("Events", "Attention of a replay recorded");
  }
  static std::string line(const ReplayedMass& e) {
    return "of token " + std::to_string(e.index) + ", " + Facts<AttentionMass>::line(e.mass);
  }
};
template <class V, Is<ReplayedMass> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("mass", x.mass);
}

template <>
struct Facts<TeammateAttention> : UsualFacts {
  static constexpr const char* kName = "teammate_attention";
  static constexpr bool kIsDetail = true;
  static constexpr About kAbout = About::KnownRequest;
  static constexpr Indexed kIndexed{.byRequest = true};
  static std::optional<Error> fault(const TeammateAttention& e) {
    if (e.index < 0) return errorAt("token index", std::to_string(e.index), "at least 0");
    if (e.mass.size() == e.requests.size()) return std::nullopt;
    return errorAt("attention on answers", std::to_string(e.mass.size()) + " shares",
                   std::to_string(e.requests.size()) + ", one per request");
  }
  static const char* plain(const TeammateAttention&) {
    return forTranslation("Events", "Attention on other answers recorded");
  }
  static std::string line(const TeammateAttention& e) {
    float share = 0;
    for (const float mass : e.mass) share += mass;
    return "of token " + std::to_string(e.index) + ", " + shareNumber(static_cast<double>(share), 1) +
           " % on the answers of requests " + requestsText(e.requests);
  }
};
template <class V, Is<TeammateAttention> X>
void fields(V&& v, X& x) {
  v("index", x.index);
  v("requests", x.requests);
  v("mass", x.mass);
}

}  // namespace spanscope::trace
