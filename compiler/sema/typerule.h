/// typerule.h - the type rules that rows of ops.def name: how operands are promoted, what comes
/// out.
///
/// A header of its own because ir.h lists the rule of each operation and rules.h applies it.
#ifndef NEWT_SEMA_TYPERULE_H
#define NEWT_SEMA_TYPERULE_H

typedef enum TypeRule {
    RULE_NONE,     ///< the operation has its own code in lower/
    RULE_FLOAT1,   ///< a float, same out
    RULE_ANY1,     ///< any number, same out
    RULE_INT1,     ///< an int or bool, same out
    RULE_FPRED,    ///< a float, int1 out
    RULE_ARITH2,   ///< + - *
    RULE_DIV2,     ///< / on numbers: always a float
    RULE_IDIV2,    ///< // and cdiv: integers
    RULE_REM2,     ///< %: integers, or floats as for /
    RULE_BIT2,     ///< & | ^: integers and bools
    RULE_SHIFT2,   ///< << >>: integers
    RULE_CMP2,     ///< comparisons: int1 out
    RULE_MINMAX2,  ///< maximum, minimum: literals are typed, bf16 becomes fp32
    RULE_FLOAT2,   ///< functions of two floats; literals are typed
    RULE_UMULHI2,  ///< 32 and 64 bit integers
    RULE_FMA3,     ///< three floats
    RULE_CLAMP3,   ///< as MINMAX2, three operands
    RULE_SELECT3   ///< a condition, then as ARITH2
} TypeRule;

#endif
