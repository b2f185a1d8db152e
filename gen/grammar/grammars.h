#pragma once
// The tables that op sets are made of. Witness extents are small and differ where they can, so that
// what is equal is equal for a reason.
#include "gen/grammar/op_sets.h"

namespace regraft::gen {

Grammar matrix_grammar();                ///< plain matrices
Grammar convolution_grammar();           ///< images of one size under windows that keep it
Grammar taso_grammar();                  ///< the inputs and operators of the TASO generator
std::vector<Grammar> matrix_grammars();  ///< matrices, sequences, layouts, numbers
std::vector<Grammar> image_grammars();   ///< convolutions and what stands beside them
std::vector<Grammar> move_grammars();    ///< reshapes, transposes, slices of what acts on elements
std::vector<Grammar> function_move_grammars();  ///< the same of activations and roundings
std::vector<Grammar> rarer_grammars();          ///< functions, reductions, shuffles of more calls
std::vector<Grammar> element_grammars();        ///< activations, roundings, comparisons
std::vector<Grammar> layer_grammars();  ///< reductions of rows and images, what repeats elements

// Themes: small grammars, each of what stands together in models.
std::vector<Grammar> logic_themes();      ///< truth values, selections, casts, what bends at zero
std::vector<Grammar> norm_themes();       ///< normalisations by their moments and in layers
std::vector<Grammar> attention_themes();  ///< attention, softmax, caches, rotations
std::vector<Grammar> einsum_themes();     ///< einsum as products, transposes and sums
std::vector<Grammar> runtime_themes();    ///< operators of onnxruntime, tables
std::vector<Grammar>
activation_themes();                  ///< activations by their parts, powers, quantised numbers
std::vector<Grammar> idle_themes();   ///< calls that do nothing
std::vector<Grammar> place_themes();  ///< repeats, slices, pads, gathers, reductions in turn
std::vector<Grammar> image_themes();  ///< convolutions as products, blocks of pixels, windows

std::vector<Grammar> conv_fusions();   ///< what becomes part of a convolution beside it
std::vector<Grammar> layer_fusions();  ///< linear layers, normalisations as they are written
std::vector<Grammar> bound_themes();   ///< clips, roundings, factors and rising functions
std::vector<Grammar> form_themes();    ///< slices, pads, blocks and rotations in general
std::vector<Grammar> law_themes();     ///< small laws of roots, bounds, shifts, factors and joins
std::vector<Grammar> number_themes();  ///< logarithms, powers, casts, fractions: by doubles
std::vector<Grammar> extent_themes();  ///< heads, blocks and groups whose extents all differ

}  // namespace regraft::gen
